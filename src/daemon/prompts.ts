/** A prompt is on disk before anything is typed; the receipt says what was really seen of it. */
import type { Ask } from "../ports/commands.ts";
import type { PromptRequest } from "../protocol/command.ts";
import { HoldfastError } from "../protocol/error.ts";
import { asPromptId, type PromptId } from "../protocol/ids.ts";
import type { SessionState } from "../protocol/session.ts";
import type { Answers } from "../protocol/wire.ts";
import type { Loop } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { change } from "./change.ts";
import { findSession } from "./verbs.ts";

/** Long enough for an agent that first has to be brought back; then the receipt says `queued`, with the reason. */
const defaultWaitMs = 30_000;
/** Whoever waits for a turn waits for as long as it takes, or goes away. */
const turnWaitMs = 7 * 24 * 3_600_000;
const turnPage = 5_000;

export async function admitPrompt(parts: Parts, loop: Loop, ask: Ask): Promise<Answers["prompt"]> {
  const { promptId: id, text, waitForTurn = false, ...times } = ask.body as PromptRequest;
  const waitMs = times.waitMs ?? (waitForTurn ? turnWaitMs : defaultWaitMs);
  const promptId = asPromptId(id);
  const session = findSession(parts, ask);
  if (waitForTurn && session.kind !== "chat") {
    throw new HoldfastError("usage", "--wait works for chat sessions: only they tell when a turn is over.");
  }
  try {
    await change(parts, loop, session, { verb: "prompt", promptId, text }, ask.actor);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "conflict" && session.intent.want === "killed") {
      return {
        promptId,
        disposition: "refused",
        reason: [error.message, error.hint].filter((part) => part !== null).join(". "),
      };
    }
    throw error;
  }
  loop.asked(session.id);
  const over = (): boolean => {
    const state = parts.store.session(session.id);
    const waiting = state?.queue.some((prompt) => prompt.promptId === promptId) ?? false;
    return !waiting || state?.run.run === "failed" || (!waitForTurn && isAsking(loop, session));
  };
  await loop.waitFor(session.id, over, waitMs, ask.signal);
  const state = parts.store.session(session.id);
  if (state?.queue.some((prompt) => prompt.promptId === promptId) === true) {
    return { promptId, disposition: "queued", reason: why(parts, loop, session) };
  }
  if (waitForTurn) {
    await loop.waitFor(session.id, () => !isAnswering(parts, session, promptId), waitMs, ask.signal);
    const turn = turnOf(parts, session, promptId);
    if (turn !== null) return { promptId, disposition: "delivered", reason: null, turn };
  }
  const doubt = doubtOf(parts, session, promptId);
  return doubt === null
    ? { promptId, disposition: "delivered", reason: null }
    : { promptId, disposition: "queued", reason: `it may have arrived, and is not sent again by itself: ${doubt}` };
}

function isAnswering(parts: Parts, session: SessionState, promptId: PromptId): boolean {
  const state = parts.store.session(session.id);
  return state?.turn.turn === "open" && state.turn.prompt === promptId;
}

/** What the agent said in answer to a prompt, and how the turn ended; null while it has not. */
function turnOf(parts: Parts, session: SessionState, promptId: PromptId): { stopReason: string; text: string } | null {
  const admitted = parts.store.prompt(session.id, promptId)?.seq ?? 0;
  let text: string | null = null;
  for (let after = admitted; ;) {
    const events = parts.store.events(session.id, after, turnPage);
    for (const event of events) {
      if (event.type === "turn.started" && event.promptId === promptId) text = "";
      else if (event.type === "agent.text" && text !== null) text += event.text;
      else if (event.type === "turn.ended" && text !== null) return { stopReason: event.stopReason, text };
    }
    const last = events.at(-1);
    if (last === undefined) return null;
    after = last.seq;
  }
}

function isAsking(loop: Loop, session: SessionState): boolean {
  const seen = loop.observation(session)?.seen;
  return seen?.is === "known" && seen.value.activity?.activity === "needs_input";
}

/** Null when it was seen to arrive, else why that is not known. */
function doubtOf(parts: Parts, session: SessionState, promptId: PromptId): string | null {
  const admitted = parts.store.prompt(session.id, promptId)?.seq ?? 0;
  const last = parts.store
    .events(session.id, admitted, 10_000)
    .findLast(
      (event) => (event.type === "prompt.sent" || event.type === "prompt.doubtful") && event.promptId === promptId,
    );
  return last?.type === "prompt.doubtful" ? last.reason : null;
}

function why(parts: Parts, loop: Loop, before: SessionState): string {
  const trouble = loop.trouble(before.id);
  if (trouble !== null) return trouble.message;
  const state = parts.store.session(before.id) ?? before;
  if (state.run.run === "launching" || state.run.run === "none") return "the session is starting";
  if (state.run.run === "failed") return `the agent did not start: ${state.run.reason}`;
  const requeued = parts.store
    .events(before.id, before.seq, 10_000)
    .findLast((event) => event.type === "prompt.requeued");
  if (requeued?.type === "prompt.requeued") return requeued.reason;
  const seen = loop.observation(state)?.seen;
  if (seen?.is === "unknown") return `the session could not be observed: ${seen.why}`;
  if (isAsking(loop, state)) return "the agent waits for an answer to its own question";
  return "an earlier prompt is still being delivered";
}
