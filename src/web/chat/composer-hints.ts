/** Texts of the composer and the queue, by the session's state. */
import type { PromptItem, TranscriptHead } from "../../contract/transcript.ts";
import type { SessionJson } from "../../contract/session.ts";

/** Why nothing can be sent; null if it can. */
export function closedReason(
  { intent }: Pick<SessionJson, "intent">,
  readOnly: boolean,
  mayAnswer: boolean,
): string | null {
  if (readOnly) return "This daemon is read-only: you cannot send or answer here.";
  if (!mayAnswer) return "This device may only watch: you cannot send or answer here.";
  if (intent.want === "killed") return "This session was killed. Restore it to continue.";
  return intent.want === "deleted" ? "This session was deleted." : null;
}

export function placeholderText({ intent, status }: Pick<SessionJson, "intent" | "status">): string {
  if (intent.want !== "running" || status === "exited" || status === "failed" || status === "done") {
    return "Write a prompt; it restarts the agent";
  }
  return status === "working" || status === "needs_input"
    ? "Write the next prompt; it is queued until the agent is done"
    : "Write a prompt, @ for files, / for commands";
}

export function queueHint(
  { status, intent }: Pick<SessionJson, "status" | "intent">,
  { turn }: TranscriptHead,
): string {
  if (turn?.open === true) return "Will be sent when the agent is done.";
  if (status === "starting") return "Will be sent when the agent has started.";
  if (status === "failed") return "The agent failed to start; restore the session to send it.";
  return intent.want === "running"
    ? "Will be sent when the agent is ready."
    : "Will be sent when the session runs again.";
}

/** A prompt that is sent immediately is shown in the transcript: it would only flash in the queue. */
export function splitQueue(
  { queue, turn }: Pick<TranscriptHead, "queue" | "turn">,
  { status }: Pick<SessionJson, "status">,
): { next: PromptItem | null; queue: PromptItem[] } {
  const [first, ...rest] = queue;
  const goesNow = turn?.open !== true && (status === "idle" || status === "working");
  if (first === undefined || !goesNow || first.reason !== null) return { next: null, queue };
  return { next: first, queue: rest };
}
