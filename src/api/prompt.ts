/** Prompts: on disk before anything is typed; the receipt reports what was observed of the delivery. */
import { HoldfastError } from "../contract/errors.ts";
import type { StoredEvent } from "../contract/event.ts";
import { asPromptId, type PromptId } from "../contract/ids.ts";
import type { Output } from "../contract/operations.ts";
import type { PromptRequest } from "../contract/prompt.ts";
import { downReason } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import { chatActivity } from "../model/status.ts";
import type { ApiRequest, Handlers } from "../ports/api.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import { promptToSend } from "../supervisor/execute/prompts.ts";
import type { Loop } from "../supervisor/loop.ts";
import { eventPage, lastEvent } from "../supervisor/record.ts";
import type { Services } from "../supervisor/services.ts";
import { iso } from "../supervisor/view.ts";
import { takeAttachments, type Taken } from "./attachments.ts";
import { askingAgent, checkMayPrompt, promptText } from "./authorize.ts";
import { findSession } from "./find.ts";

/** Enough for an agent that must be restored first; after that the receipt is `queued`, with the reason. */
const defaultWaitMs = 30_000;
/** With `waitForTurn`: until the turn ends or the caller disconnects. */
const turnWaitMs = 7 * 24 * 3_600_000;
/** Of a longer reply only the end is returned. */
const longestText = 8 * 1024 * 1024;

type Needs = Pick<Services, "store" | "agents" | "runtimes" | "workspaces" | "settings">;

export function promptHandlers(
  services: Needs,
  loop: Loop,
): Handlers<"prompt" | "queue" | "promptEdit" | "attachment"> {
  const { store } = services;
  return {
    prompt: (request) => admitPrompt(services, loop, request),
    queue: (request) => queueJson(services, findSession(services, request)),
    promptEdit: async (request) => {
      const { actor: by, input } = request;
      const { text, position, withdraw = false } = input;
      const promptId = asPromptId(request.params.prompt);
      const session = findSession(services, request);
      checkMayPrompt(services, session, request);
      const state = await store.commit(session.id, ({ queue }) => {
        if (queue.find((prompt) => prompt.promptId === promptId)?.state !== "queued") {
          throw new HoldfastError("conflict", "That prompt is no longer queued.", {
            hint: "Sent prompts cannot be changed.",
          });
        }
        if (withdraw) return [{ type: "prompt.withdrawn", promptId, by }];
        return [
          ...(text === undefined ? [] : [{ type: "prompt.edited" as const, promptId, text, by }]),
          ...(position === undefined ? [] : [{ type: "prompt.moved" as const, promptId, position, by }]),
        ];
      });
      loop.asked(session.id);
      return queueJson(services, state);
    },
    attachment: (request) => {
      const { id } = findSession(services, request);
      const promptId = asPromptId(request.params.prompt);
      const n = Number(request.params.n);
      const { type, mimeType = null } = store.prompt(id, promptId)?.attachments[n] ?? {};
      const bytes = type === "image" ? store.attachment(id, promptId, n) : null;
      if (bytes !== null && mimeType !== null) return { mimeType, bytes };
      throw new HoldfastError("not-found", "That prompt has no such image.");
    },
  };
}

function queueJson(services: Needs, session: SessionState): Output<"queue"> {
  return {
    prompts: session.queue.map(({ promptId, state, admittedAt }) => {
      const { text, attachments } = promptToSend(services, session, promptId);
      const copies = attachments.map((one) => ({ ...one }));
      return { promptId, text, state, admittedAt: iso(admittedAt), attachments: copies };
    }),
  };
}

async function admitPrompt(services: Needs, loop: Loop, request: ApiRequest<"prompt">): Promise<Output<"prompt">> {
  const { input, actor, signal } = request;
  const { waitForTurn = false, waitMs = waitForTurn ? turnWaitMs : defaultWaitMs } = input;
  const promptId = asPromptId(input.promptId);
  const session = findSession(services, request);
  checkMayPrompt(services, session, request);
  const hasText = input.attachments?.some((one) => one.type === "file" && one.text !== undefined) ?? false;
  if (hasText && askingAgent(services, actor) !== null) {
    throw new HoldfastError(
      "forbidden",
      "An agent cannot send the text of a file: it would not be marked as its message.",
      { hint: "Put the text into the message, or name the file without its text." },
    );
  }
  if (waitForTurn && session.kind !== "chat") {
    throw new HoldfastError("usage", "--wait is only supported for chat sessions.", {
      hint: `Use: holdfast attach ${session.id}`,
    });
  }
  const text = promptText(services, input.text, actor);
  const { attachments, bytes } = attached(services, session, input);
  const refused = (reason: string): Output<"prompt"> => ({ promptId, disposition: "refused", reason });
  try {
    await commitVerb(services, loop, session, { verb: "prompt", promptId, text, attachments }, actor, bytes);
  } catch (error) {
    // The current intent, not the one found above: a kill may have come in between.
    const want = services.store.session(session.id)?.intent.want ?? "deleted";
    if (!(error instanceof HoldfastError) || (want !== "killed" && want !== "deleted")) throw error;
    return refused(want === "deleted" ? deletedReason : [error.message, error.hint ?? []].flat().join(". "));
  }
  loop.asked(session.id);
  const isOver = (): boolean => {
    const state = services.store.session(session.id);
    const isQueued = state?.queue.some((prompt) => prompt.promptId === promptId) ?? false;
    // Stopped meanwhile: it may be days until the prompt is sent, or never.
    const isDown =
      state?.intent.want !== "running" ||
      hasFailed(state, session.seq) ||
      loop.missingProgram(session.id) !== null ||
      isMissing(services, state);
    return !isQueued || isDown || (!waitForTurn && openQuestion(loop, state) !== null);
  };
  await loop.waitFor(session.id, isOver, waitMs, signal);
  await refuseKilled(services, loop, { session, promptId, waitMs, signal });
  const state = services.store.session(session.id);
  if (state === null || state.intent.want === "deleted") return refused(deletedReason);
  if (state.queue.some((prompt) => prompt.promptId === promptId)) {
    return { promptId, disposition: "queued", reason: whyQueued(services, loop, session, promptId) };
  }
  if (waitForTurn) {
    const isOpen = (): boolean => {
      const turn = services.store.session(session.id)?.turn;
      return turn?.turn === "open" && turn.prompt === promptId;
    };
    await loop.waitFor(session.id, () => !isOpen(), waitMs, signal);
    const turn = await turnOf(services, session, promptId);
    if (turn !== null) return { promptId, disposition: "delivered", reason: null, turn };
  }
  const outcome = outcomeOf(services, session, promptId);
  const check =
    session.kind === "terminal" ? `holdfast session screen ${session.id}` : `holdfast acp history ${session.id}`;
  if (outcome?.type === "prompt.refused") return refused(outcome.reason);
  if (outcome?.type === "prompt.withdrawn") return refused(`withdrawn by ${outcome.by}`);
  if (outcome?.type === "prompt.doubtful") {
    const reason = `${outcome.reason}; it is not sent again without you, check with: ${check}`;
    return { promptId, disposition: "unconfirmed", reason };
  }
  // A prompt on the screen is not confirmed: only the agent's own report, or the line that a chat agent reads, is.
  const isTyped = outcome?.type === "prompt.sent" && (outcome.seenBy === "screen" || outcome.seenBy === "argument");
  return isTyped
    ? { promptId, disposition: "typed", reason: `the agent does not confirm it, check with: ${check}` }
    : { promptId, disposition: "delivered", reason: null };
}

function isMissing({ workspaces }: Needs, { run, workspace, workspacePath }: SessionState): boolean {
  if (run.run === "up" || run.run === "launching") return false;
  return workspace.at === "gone" || (workspace.at === "ready" && workspaces.exists(workspacePath) === false);
}

const deletedReason = "the session was deleted";

/**
 * A kill refuses prompts that were not sent yet: the receipt reports that, so a later restore must not send them. A
 * prompt that is being sent at that moment is settled first.
 */
async function refuseKilled(
  { store }: Needs,
  loop: Loop,
  request: { session: SessionState; promptId: PromptId; waitMs: number; signal: AbortSignal },
): Promise<void> {
  const { promptId, waitMs, signal } = request;
  const { id } = request.session;
  const isKilled = (state: SessionState | null): boolean => state?.intent.want === "killed";
  const queued = (state: SessionState | null) => state?.queue.find((prompt) => prompt.promptId === promptId)?.state;
  const now = (): SessionState | null => store.session(id);
  if (!isKilled(now())) return;
  await loop.waitFor(id, () => !isKilled(now()) || queued(now()) !== "sending", waitMs, signal);
  const reason = `the session was killed before it was sent. Bring it back first: holdfast session restore ${id}`;
  await store.commit(id, (state) =>
    isKilled(state) && queued(state) === "queued" ? [{ type: "prompt.refused", promptId, reason }] : [],
  );
}

/** The agent's reply to a prompt, and how the turn ended; null while it has not. */
async function turnOf({ store }: Needs, { id }: SessionState, promptId: PromptId) {
  const types = ["turn.started", "agent.text", "turn.ended"] as const;
  let isOurs = false;
  let length = 0;
  let text = "";
  for (let after = store.prompt(id, promptId)?.seq ?? 0; ;) {
    const events = store.someEvents(id, { after, types, ...eventPage });
    for (const event of events) {
      if (event.type === "turn.started" && event.promptId === promptId) isOurs = true;
      else if (event.type === "agent.text" && isOurs) {
        length += event.text.length;
        text += event.text;
        if (text.length > 2 * longestText) text = text.slice(-longestText);
      } else if (event.type === "turn.ended" && isOurs) {
        const { stopReason, message } = event;
        const end = text.slice(-longestText);
        const omitted = length - end.length;
        const cut = omitted === 0 ? "" : `[... ${omitted} characters before this are left out ...]\n`;
        return { stopReason, text: cut + end, ...(message === undefined ? {} : { message }) };
      }
    }
    const last = events.at(-1);
    if (last === undefined) return null;
    after = last.seq;
    await new Promise((resume) => setImmediate(resume));
  }
}

function seenOf(loop: Loop, session: SessionState) {
  const seen = loop.observation(session)?.seen;
  return seen?.is === "known" ? seen.value : null;
}

/** What the user must answer first; null if the agent waits for no answer. */
function openQuestion(loop: Loop, session: SessionState): string | null {
  const seen = seenOf(loop, session);
  const activity = session.kind === "chat" ? chatActivity(session) : seen?.activity?.activity;
  if (activity !== "needs_input") return null;
  const reason = session.kind === "terminal" ? seen?.activity?.reason : null;
  return `${reason || "the agent asks a question"} (answer it first)`;
}

const outcomes = ["prompt.sent", "prompt.doubtful", "prompt.refused", "prompt.withdrawn"] as const;
type PromptOutcome = Extract<StoredEvent, { type: (typeof outcomes)[number] }>;

/** The last outcome of a prompt that is no longer queued. */
function outcomeOf({ store }: Needs, { id }: SessionState, promptId: PromptId): PromptOutcome | undefined {
  const isOutcome = (event: StoredEvent): event is PromptOutcome => outcomes.some((type) => type === event.type);
  const after = store.prompt(id, promptId)?.seq ?? 0;
  return store
    .someEvents(id, { after, types: outcomes, ...eventPage, limit: Number.MAX_SAFE_INTEGER })
    .filter(isOutcome)
    .findLast((event) => event.promptId === promptId);
}

/** Throws before anything is written if the attachments cannot be delivered. */
function attached({ store, runtimes }: Needs, session: SessionState, input: PromptRequest): Taken {
  const { attachments = [] } = input;
  if (attachments.length === 0) return { attachments: [], bytes: [] };
  const isRetry = store.prompt(session.id, asPromptId(input.promptId)) !== null;
  if (!isRetry && attachments.some(({ type }) => type === "image")) {
    const hint = "Save the image in the worktree and refer to that file";
    if (session.kind === "terminal") {
      throw new HoldfastError("conflict", "Terminal sessions do not accept images.", {
        hint: `${hint}, or convert the session: holdfast session convert`,
      });
    }
    if (runtimes.chat.promptCapabilities(session)?.image === false) {
      throw new HoldfastError("conflict", `The agent ${session.agent} does not accept images.`, { hint: `${hint}.` });
    }
  }
  return takeAttachments(session, input, isRetry);
}

/** Since the prompt, or without a next attempt: an earlier failed launch is retried for the prompt. */
function hasFailed(state: SessionState, seq: number): boolean {
  return state.run.run === "failed" && (state.run.seq > seq || downReason(state, false) !== null);
}

const agentStarts = "agent is starting";
const behindAnother = "an earlier prompt is still being delivered";

function whyQueued(services: Needs, loop: Loop, before: SessionState, promptId: PromptId): string {
  const { store } = services;
  const error = loop.lastError(before.id);
  if (error !== null) return error.message;
  const state = store.session(before.id) ?? before;
  const { want } = state.intent;
  if (want !== "running") return `the session was ${want} meanwhile`;
  if (isMissing(services, state)) return `Workspace missing: ${state.workspacePath}`;
  const missing = loop.missingProgram(before.id);
  if (missing !== null) return `${missing}; retrying`;
  if (state.run.run === "launching" || state.run.run === "none") return agentStarts;
  if (state.run.run === "failed") return `the agent did not start: ${state.run.reason}`;
  const sending = state.queue.find((prompt) => prompt.state === "sending")?.promptId;
  const question = openQuestion(loop, state);
  const isStarting = seenOf(loop, state)?.starting === true;
  if (sending !== undefined && sending !== promptId) return question ?? (isStarting ? agentStarts : behindAnother);
  const held = loop.held(before.id);
  // A prompt that was sent since then makes the reason obsolete.
  const isHeld =
    held !== null && lastEvent(store, before.id, { after: held.seq, types: ["prompt.sending"] }) === undefined;
  if (isHeld) return held.why;
  if (sending === promptId) return "the agent has not confirmed it yet";
  const requeued = lastEvent(store, before.id, { after: before.seq, types: ["prompt.requeued"] });
  if (requeued?.type === "prompt.requeued") return requeued.reason;
  const seen = loop.observation(state)?.seen;
  if (seen?.is === "unknown") return `the session could not be observed: ${seen.why}`;
  if (question !== null) return question;
  if (state.kind === "chat" && state.turn.turn === "open" && state.turn.prompt !== null) return "a turn is in progress";
  if (isStarting) return agentStarts;
  return state.queue[0]?.promptId === promptId ? "the agent is not ready for it yet" : behindAnother;
}
