/** A prompt is on disk before anything is typed; the receipt says what was really seen of it. */
import { chatActivity } from "../model/status.ts";
import { downReason } from "../model/runs.ts";
import type { ApiRequest } from "../ports/api.ts";
import type { PromptRequest } from "../contract/prompt.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { StoredEvent } from "../contract/event.ts";
import { asPromptId, type PromptId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { Output } from "../contract/operations.ts";
import type { Taken } from "./attachments.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { askingAgent, checkMayPrompt, promptText } from "./authorize.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import { findSession } from "./run-verb.ts";
import { eventPage, lastEvent } from "../supervisor/record.ts";

/** Long enough for an agent that first has to be brought back; then the receipt says `queued`, with the reason. */
const defaultWaitMs = 30_000;
/** Whoever waits for a turn waits for as long as it takes, or goes away. */
const turnWaitMs = 7 * 24 * 3_600_000;
/** A longer answer is told by its end. */
const longestText = 8 * 1024 * 1024;

export async function admitPrompt(parts: Services, loop: Loop, ask: ApiRequest<"prompt">): Promise<Output<"prompt">> {
  const request = ask.input;
  const { promptId: id, waitForTurn = false, ...times } = request;
  const text = promptText(parts, request.text, ask.actor);
  const waitMs = times.waitMs ?? (waitForTurn ? turnWaitMs : defaultWaitMs);
  const promptId = asPromptId(id);
  const session = findSession(parts, ask);
  checkMayPrompt(parts, session, ask);
  if (
    askingAgent(parts, ask.actor) !== null &&
    request.attachments?.some((one) => one.type === "file" && one.text !== undefined)
  )
    throw new HoldfastError(
      "forbidden",
      "An agent cannot send the text of a file: it would not be marked as its message.",
      {
        hint: "Put the text into the message, or name the file without its text.",
      },
    );
  if (waitForTurn && session.kind !== "chat") {
    throw new HoldfastError("usage", "--wait works for chat sessions: only they tell when a turn is over.");
  }
  const { attachments, bytes } = await attached(parts, session, request);
  try {
    await commitVerb(parts, loop, session, { verb: "prompt", promptId, text, attachments }, ask.actor, bytes);
  } catch (error) {
    // As it is now, and not as it was found: the kill may have come in between.
    const want = parts.store.session(session.id)?.intent.want ?? "deleted";
    if (error instanceof HoldfastError && (want === "killed" || want === "deleted")) {
      const reason = want === "deleted" ? deletedReason : [error.message, error.hint].filter((part) => part !== null);
      return { promptId, disposition: "refused", reason: [reason].flat().join(". ") };
    }
    throw error;
  }
  loop.asked(session.id);
  const over = (): boolean => {
    const state = parts.store.session(session.id);
    const waiting = state?.queue.some((prompt) => prompt.promptId === promptId) ?? false;
    // Taken down meanwhile: it may be days until the prompt is sent, or never.
    const down =
      state?.intent.want !== "running" ||
      hasFailed(state, session.seq) ||
      loop.missingProgram(session.id) !== null ||
      isMissing(parts, state);
    return !waiting || down || (!waitForTurn && isAsking(loop, state));
  };
  await loop.waitFor(session.id, over, waitMs, ask.signal);
  await refuseKilled(parts, loop, { session, promptId, waitMs, signal: ask.signal });
  const state = parts.store.session(session.id);
  if (state === null || state.intent.want === "deleted") {
    return { promptId, disposition: "refused", reason: deletedReason };
  }
  if (state.queue.some((prompt) => prompt.promptId === promptId)) {
    return { promptId, disposition: "queued", reason: why(parts, loop, session, promptId) };
  }
  if (waitForTurn) {
    await loop.waitFor(session.id, () => !isAnswering(parts, session, promptId), waitMs, ask.signal);
    const turn = await turnOf(parts, session, promptId);
    if (turn !== null) return { promptId, disposition: "delivered", reason: null, turn };
  }
  const fate = fateOf(parts, session, promptId);
  if (fate?.type === "prompt.refused") return { promptId, disposition: "refused", reason: fate.reason };
  if (fate?.type === "prompt.withdrawn") return { promptId, disposition: "refused", reason: `withdrawn by ${fate.by}` };
  if (fate?.type === "prompt.doubtful")
    return { promptId, disposition: "unconfirmed", reason: doubt(session, fate.reason) };
  // On the screen is not in the agent's hands: only its own word, or the line that a chat agent reads, is.
  const isTyped = fate?.type === "prompt.sent" && (fate.seenBy === "screen" || fate.seenBy === "argument");
  return isTyped
    ? { promptId, disposition: "typed", reason: `the agent does not confirm it, check with: ${howToCheck(session)}` }
    : { promptId, disposition: "delivered", reason: null };
}

function doubt(session: SessionState, why: string): string {
  return `${why}; it is not sent again without you, check with: ${howToCheck(session)}`;
}

function howToCheck({ id, kind }: SessionState): string {
  return kind === "terminal" ? `holdfast session screen ${id}` : `holdfast acp history ${id}`;
}

function isMissing(parts: Services, session: SessionState): boolean {
  const isRunning = session.run.run === "up" || session.run.run === "launching";
  if (isRunning) return false;
  const { at } = session.workspace;
  return at === "gone" || (at === "ready" && parts.workspaces.exists(session.workspacePath) === false);
}

const deletedReason = "the session was deleted";

/**
 * A kill that came before it was sent takes the prompt with it: the receipt says refused, so a later restore must not
 * send it. What was being sent at that moment is settled first.
 */
async function refuseKilled(
  { store }: Services,
  loop: Loop,
  {
    session,
    promptId,
    waitMs,
    signal,
  }: { session: SessionState; promptId: PromptId; waitMs: number; signal: AbortSignal },
): Promise<void> {
  const isKilled = (state: SessionState | null): boolean => state?.intent.want === "killed";
  const waiting = (state: SessionState | null) => state?.queue.find((prompt) => prompt.promptId === promptId)?.state;
  const now = (): SessionState | null => store.session(session.id);
  if (!isKilled(now())) return;
  await loop.waitFor(session.id, () => !isKilled(now()) || waiting(now()) !== "sending", waitMs, signal);
  const reason = `the session was killed before it was sent. Bring it back first: holdfast session restore ${session.id}`;
  await store.commit(session.id, (state) =>
    isKilled(state) && waiting(state) === "queued" ? [{ type: "prompt.refused", promptId, reason }] : [],
  );
}

function isAnswering(parts: Services, session: SessionState, promptId: PromptId): boolean {
  const state = parts.store.session(session.id);
  return state?.turn.turn === "open" && state.turn.prompt === promptId;
}

/** What the agent said in answer to a prompt, and how the turn ended; null while it has not. */
async function turnOf(
  { store }: Services,
  { id }: SessionState,
  promptId: PromptId,
): Promise<NonNullable<Output<"prompt">["turn"]> | null> {
  const types = ["turn.started", "agent.text", "turn.ended"] as const;
  let text: TextEnd | null = null;
  for (let after = store.prompt(id, promptId)?.seq ?? 0; ;) {
    const events = store.someEvents(id, { after, types, ...eventPage });
    for (const event of events) {
      if (event.type === "turn.started" && event.promptId === promptId) text = new TextEnd();
      else if (event.type === "agent.text") text?.add(event.text);
      else if (event.type === "turn.ended" && text !== null) {
        const { stopReason, message } = event;
        return { stopReason, text: text.whole(), ...(message === undefined ? {} : { message }) };
      }
    }
    const last = events.at(-1);
    if (last === undefined) return null;
    after = last.seq;
    await new Promise((resume) => setImmediate(resume));
  }
}

/** All of a text, or what fits of its end. */
class TextEnd {
  readonly #pieces: string[] = [];
  #kept = 0;
  #dropped = 0;

  add(piece: string): void {
    this.#pieces.push(piece);
    this.#kept += piece.length;
    while (this.#kept > longestText && this.#pieces.length > 1) {
      const { length } = this.#pieces.shift()!;
      this.#kept -= length;
      this.#dropped += length;
    }
  }

  whole(): string {
    const cut = this.#dropped === 0 ? "" : `[... ${this.#dropped} characters before this are left out ...]\n`;
    return cut + this.#pieces.join("");
  }
}

function isAsking(loop: Loop, session: SessionState): boolean {
  if (session.kind === "chat") return chatActivity(session) === "needs_input";
  const seen = loop.observation(session)?.seen;
  return seen?.is === "known" && seen.value.activity?.activity === "needs_input";
}

function asksWhat(loop: Loop, session: SessionState): string {
  const seen = loop.observation(session)?.seen;
  const reason = session.kind === "terminal" && seen?.is === "known" ? seen.value.activity?.reason : null;
  return `${reason || "the agent asks a question"} (answer it first)`;
}

const fates = ["prompt.sent", "prompt.doubtful", "prompt.refused", "prompt.withdrawn"] as const;
type Fate = Extract<StoredEvent, { type: (typeof fates)[number] }>;

/** The last word on a prompt that is no longer queued. */
function fateOf({ store }: Services, { id }: SessionState, promptId: PromptId): Fate | undefined {
  const isFate = (event: StoredEvent): event is Fate => (fates as readonly string[]).includes(event.type);
  const after = store.prompt(id, promptId)?.seq ?? 0;
  return store
    .someEvents(id, { after, types: fates, ...eventPage, limit: Number.MAX_SAFE_INTEGER })
    .filter(isFate)
    .findLast((event) => event.promptId === promptId);
}

/** Refused here, with nothing written, where it is already known that it cannot be delivered. */
async function attached(parts: Services, session: SessionState, request: PromptRequest): Promise<Taken> {
  const { attachments: given = [] } = request;
  if (given.length === 0) return { attachments: [], bytes: [] };
  const isRetry = parts.store.prompt(session.id, asPromptId(request.promptId)) !== null;
  if (!isRetry && given.some(({ type }) => type === "image")) refuseImages(parts, session);
  const { takeAttachments } = await import("./attachments.ts");
  return takeAttachments(session, request, isRetry);
}

function refuseImages(parts: Services, session: SessionState): void {
  if (session.kind === "terminal") {
    throw new HoldfastError("conflict", "A terminal session takes no images.", {
      hint: "Save the image in the worktree and refer to that file, or hand the session over: holdfast session convert",
    });
  }
  if (parts.runtimes.chat.promptCapabilities(session)?.image === false) {
    throw new HoldfastError("conflict", `The agent ${session.agent} takes no images.`, {
      hint: "Save the image in the worktree and refer to that file.",
    });
  }
}

/** Since the prompt came, or without a next attempt: an earlier failed launch is made again for the prompt. */
function hasFailed(state: SessionState, seq: number): boolean {
  return state.run.run === "failed" && (state.run.seq > seq || downReason(state, false) !== null);
}

function why(parts: Services, loop: Loop, before: SessionState, promptId: PromptId): string {
  const trouble = loop.lastError(before.id);
  if (trouble !== null) return trouble.message;
  const state = parts.store.session(before.id) ?? before;
  const { want } = state.intent;
  if (want !== "running") return `the session was ${want} meanwhile`;
  if (isMissing(parts, state)) return `Workspace missing: ${state.workspacePath}`;
  const missing = loop.missingProgram(before.id);
  if (missing !== null) return `${missing}; retrying`;
  if (state.run.run === "launching" || state.run.run === "none") return agentStarts;
  if (state.run.run === "failed") return `the agent did not start: ${state.run.reason}`;
  const open = state.queue.find((prompt) => prompt.state === "sending")?.promptId;
  if (open !== undefined && open !== promptId) return whyBehind(loop, state);
  const held = loop.held(before.id);
  if (held !== null && !isOver(parts, before.id, held.seq)) return held.why;
  if (open === promptId) return "the agent has not confirmed it yet";
  const requeued = lastEvent(parts.store, before.id, { after: before.seq, types: ["prompt.requeued"] });
  if (requeued?.type === "prompt.requeued") return requeued.reason;
  const seen = loop.observation(state)?.seen;
  if (seen?.is === "unknown") return `the session could not be observed: ${seen.why}`;
  if (isAsking(loop, state)) return asksWhat(loop, state);
  const inTurn = state.kind === "chat" && state.turn.turn === "open" && state.turn.prompt !== null;
  if (inTurn) return "a turn is in progress";
  if (isStarting(loop, state)) return agentStarts;
  return state.queue[0]?.promptId === promptId ? "the agent is not ready for it yet" : behindAnother;
}

const behindAnother = "an earlier prompt is still being delivered";
const agentStarts = "agent is starting";

function isStarting(loop: Loop, state: SessionState): boolean {
  const seen = loop.observation(state)?.seen;
  return seen?.is === "known" && seen.value.starting === true;
}

/** Of a prompt behind one that the agent has: what keeps the agent from both, or the other prompt. */
function whyBehind(loop: Loop, state: SessionState): string {
  if (isAsking(loop, state)) return asksWhat(loop, state);
  return isStarting(loop, state) ? agentStarts : behindAnother;
}

/** Whether a prompt was sent since a reason to wait was written down. */
function isOver({ store }: Services, id: SessionState["id"], seq: number): boolean {
  return lastEvent(store, id, { after: seq, types: ["prompt.sending"] }) !== undefined;
}
