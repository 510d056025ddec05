/** How a session stands towards the person who wants to say something. */
import type { PromptItem, TranscriptHead } from "../../contract/transcript.ts";
import type { SessionJson } from "../../contract/wire.ts";

/** Why nothing can be sent; null when it can. */
export function closedReason(
  { intent }: Pick<SessionJson, "intent">,
  readOnly: boolean,
  mayAnswer: boolean,
): string | null {
  if (readOnly) return "This daemon is read-only: nothing can be sent or answered here.";
  if (!mayAnswer) return "This device may only watch: nothing can be sent or answered here.";
  if (intent.want === "killed") return "This session was killed. Restore it to go on.";
  return intent.want === "deleted" ? "This session was deleted." : null;
}

export function placeholderText({ intent, status }: Pick<SessionJson, "intent" | "status">): string {
  if (intent.want !== "running" || status === "exited" || status === "failed" || status === "done") {
    return "Write a prompt; it starts the agent again";
  }
  return status === "working" || status === "needs_input"
    ? "Write the next prompt; it waits until the agent is done"
    : "Write a prompt, @ for files, / for commands";
}

export function queueHint(
  { status, intent }: Pick<SessionJson, "status" | "intent">,
  { turn }: TranscriptHead,
): string {
  if (turn?.open === true) return "Sent when the agent is done.";
  if (status === "starting") return "Sent when the agent has started.";
  if (status === "failed") return "The agent does not start; restore the session to send on.";
  return intent.want === "running" ? "Sent as soon as the agent takes it." : "Sent when the session runs again.";
}

/**
 * A prompt that goes out at once is shown where it will stand. It passes through the queue for a moment, and would
 * else flash there.
 */
export function waitingOf(
  { queue, turn }: Pick<TranscriptHead, "queue" | "turn">,
  { status }: Pick<SessionJson, "status">,
): { waiting: PromptItem | null; queue: PromptItem[] } {
  const [first, ...rest] = queue;
  const goesNow = turn?.open !== true && (status === "idle" || status === "working");
  if (first === undefined || !goesNow || first.reason !== null) return { waiting: null, queue };
  return { waiting: first, queue: rest };
}
