/** A prompt is on disk before anything is typed; the receipt says what was really seen of it. */
import type { Ask } from "../ports/commands.ts";
import type { PromptRequest } from "../protocol/command.ts";
import { HoldfastError } from "../protocol/error.ts";
import { asPromptId } from "../protocol/ids.ts";
import type { SessionState } from "../protocol/session.ts";
import type { Answers } from "../protocol/wire.ts";
import type { Loop } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { change, findSession } from "./verbs.ts";

/** Long enough for an agent that first has to be brought back; then the receipt says `queued`, with the reason. */
const defaultWaitMs = 30_000;

export async function admitPrompt(parts: Parts, loop: Loop, ask: Ask): Promise<Answers["prompt"]> {
  const { promptId: id, text, waitMs = defaultWaitMs } = ask.body as PromptRequest;
  const promptId = asPromptId(id);
  const session = findSession(parts, ask);
  try {
    await change(parts, loop, session, { verb: "prompt", promptId, text }, ask.actor);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "conflict" && session.intent.want === "killed") {
      return { promptId, disposition: "refused", reason: [error.message, error.hint].filter((part) => part !== null).join(". ") };
    }
    throw error;
  }
  loop.asked(session.id);
  const waiting = (): SessionState["queue"][number] | undefined =>
    parts.store.session(session.id)?.queue.find((prompt) => prompt.promptId === promptId);
  const over = (): boolean =>
    (waiting()?.state ?? "doubtful") === "doubtful" || parts.store.session(session.id)?.run.run === "failed";
  await loop.waitFor(session.id, over, waitMs, ask.signal);
  const left = waiting();
  if (left === undefined) return { promptId, disposition: "delivered", reason: null };
  return { promptId, disposition: "queued", reason: left.state === "doubtful" ? doubt(parts, session, promptId) : why(parts, loop, session) };
}

function doubt(parts: Parts, before: SessionState, promptId: string): string {
  const event = parts.store
    .events(before.id, before.seq, 10_000)
    .findLast((entry) => entry.type === "prompt.doubtful" && entry.promptId === promptId);
  return event?.type === "prompt.doubtful" ? event.reason : "it could not be seen to arrive";
}

function why(parts: Parts, loop: Loop, before: SessionState): string {
  const trouble = loop.trouble(before.id);
  if (trouble !== null) return trouble;
  const state = parts.store.session(before.id) ?? before;
  if (state.run.run === "launching" || state.run.run === "none") return "the session is starting";
  if (state.run.run === "failed") return `the agent did not start: ${state.run.reason}`;
  const requeued = parts.store
    .events(before.id, before.seq, 10_000)
    .findLast((event) => event.type === "prompt.requeued");
  if (requeued?.type === "prompt.requeued") return requeued.reason;
  const seen = loop.observation(state)?.seen;
  if (seen?.is === "unknown") return `the session could not be observed: ${seen.why}`;
  if (seen?.is === "known" && seen.value.activity?.activity === "needs_input") return "the agent waits for an answer to its own question";
  return "an earlier prompt is still being delivered";
}
