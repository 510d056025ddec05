/**
 * The session reducer: the stored state of a session is this function over its events. Pure; an unknown event type changes
 * only the sequence.
 */
import { configurationActor } from "../contract/acp.ts";
import type { SessionEvent, StoredEvent } from "../contract/event.ts";
import type { PromptId } from "../contract/ids.ts";
import type { QueuedPrompt, SessionState } from "./session.ts";
import { applyTrackerEvent } from "./pull-requests.ts";
import { shorten } from "./text.ts";

/** Older crashes no longer count for the crash budget. */
const crashMemory = 10;
/** Characters of an error message; the event has all of it. */
const keptMessage = 500;

export function reduce(state: SessionState | null, event: StoredEvent): SessionState {
  if (event.type === "session.created" && state === null) {
    return {
      id: event.id,
      project: event.project,
      kind: event.kind,
      role: event.role,
      agent: event.agent,
      title: event.title,
      issue: event.issue,
      branch: event.branch,
      branchCreated: event.branchCreated,
      base: event.base,
      workspacePath: event.workspacePath,
      workspace: { at: "planned" },
      intent: { want: "running", by: event.by, at: event.at, seq: event.seq },
      run: { run: "none" },
      turn: { turn: "none" },
      queue: [],
      permissions: [],
      picks: { config: {} },
      agentSessionId: null,
      conversationSince: null,
      prompted: false,
      activity: null,
      crashes: [],
      resumeFailures: 0,
      pullRequest: null,
      ...(event.contain === undefined ? {} : { contain: event.contain }),
      createdAt: event.at,
      lastActivityAt: event.at,
      seq: event.seq,
    };
  }
  if (state === null) throw new Error(`event ${event.type} before the session was created`);
  return reduceOwn({ ...state }, event);
}

/** Changes a state that the caller owns: many events need one copy, not one each. */
export function reduceOwn(own: SessionState, event: StoredEvent): SessionState {
  if (event.type === "session.created") throw new Error(`session ${event.id} was created twice`);
  if (event.seq !== own.seq + 1) throw new Error(`event ${event.seq} of ${own.id} follows ${own.seq}`);
  return Object.assign(own, applyEvent(own, event), { seq: event.seq });
}

function applyEvent(
  state: SessionState,
  event: Exclude<StoredEvent, { type: "session.created" }>,
): Partial<SessionState> {
  switch (event.type) {
    case "session.intent":
      return {
        intent: { ...event.want, by: event.by, at: event.at, seq: event.seq },
        // Starting it again resets the crash budget.
        ...(event.want.want === "running" ? { crashes: [], resumeFailures: 0, ...plannedAgain(state) } : {}),
      };
    case "session.pinned":
      return { pinned: true };
    case "session.unpinned":
      return { pinned: false };
    case "session.renamed":
      return { title: event.title };
    case "session.copied":
      return {
        // Drops every reference to the original's processes, files and conversation.
        run: { run: "none" },
        workspace: {
          at: "gone",
          reason: `it belongs to the home ${event.original}; this home is a copy`,
          original: event.original,
        },
        turn: state.turn.turn === "open" ? { turn: "none" } : state.turn,
        queue: [],
        permissions: [],
        activity: null,
        agentSessionId: null,
        prompted: false,
      };
    case "workspace.ready":
      return {
        workspace: { at: "ready" },
        workspacePath: event.path,
        branch: event.branch,
        branchCreated: event.branchCreated,
        base: event.base,
      };
    case "workspace.trashed":
      return {
        workspace: {
          at: "trashed",
          trash: event.trash,
          ...(event.branch === undefined || event.branch === null ? {} : { branch: event.branch }),
        },
      };
    case "workspace.restored":
      return {
        workspace: { at: "ready" },
        workspacePath: event.path,
        ...(event.branch === null ? {} : { branch: event.branch }),
      };
    case "workspace.gone":
      return {
        workspace: { at: "gone", reason: event.reason, ...(event.neverMade === true ? { neverMade: true } : {}) },
      };
    case "workspace.failed":
      return { workspace: { at: "planned", failed: event.reason } };
    case "launch.started":
      return {
        run: { run: "launching", launch: event.launch, attempt: event.attempt, how: event.how, at: event.at },
      };
    case "launch.up":
    case "launch.adopted":
      return {
        run: { run: "up", launch: event.launch, at: event.at, agent: event.agent },
        resumeFailures: 0,
        lastActivityAt: event.type === "launch.up" ? event.at : state.lastActivityAt,
      };
    case "launch.failed":
      return {
        run: {
          run: "failed",
          launch: event.launch,
          reason: event.reason,
          at: event.at,
          lastLines: event.lastLines,
          seq: event.seq,
          ...(event.retry === true
            ? { retry: { attempt: state.run.run === "launching" ? state.run.attempt : 1 } }
            : {}),
        },
        resumeFailures:
          event.retry !== true && state.run.run === "launching" && state.run.how === "resume"
            ? state.resumeFailures + 1
            : state.resumeFailures,
      };
    case "run.ended":
      return {
        run: {
          run: "ended",
          launch: event.launch,
          how: event.how,
          exit: event.exit,
          at: event.at,
          uptimeMs: event.uptimeMs,
          lastLines: event.lastLines,
          seq: event.seq,
        },
        activity: null,
        // No agent is left to answer.
        permissions: [],
        crashes: event.how === "crash" ? [...state.crashes, event.at].slice(-crashMemory) : state.crashes,
        ...cutTurn(state, event),
        lastActivityAt: event.at,
      };
    case "conversation.pinned":
      return { agentSessionId: event.agentSessionId };
    case "conversation.used":
      return { prompted: true };
    case "context.reset":
      return {
        agentSessionId: null,
        prompted: false,
        resumeFailures: 0,
        // The launch failed because of the lost conversation, so a fresh one may start.
        ...(state.run.run === "failed" ? { run: { run: "none" as const } } : {}),
      };
    case "prompt.admitted":
      return {
        queue: [
          ...state.queue,
          { promptId: event.promptId, admittedAt: event.at, admittedSeq: event.seq, state: "queued" },
        ],
        lastActivityAt: event.at,
      };
    case "prompt.sending":
      return { queue: withState(state.queue, event.promptId, "sending") };
    case "prompt.requeued":
      return { queue: requeue(state.queue, event) };
    case "prompt.doubtful":
      // It may have arrived, so only the user may send it again.
      return { queue: without(state.queue, event.promptId) };
    case "prompt.sent":
      return {
        queue: without(state.queue, event.promptId),
        prompted: true,
        lastActivityAt: event.at,
        ...noCutTurn(state),
      };
    case "prompt.edited":
      return {
        queue: state.queue.map((prompt) =>
          prompt.promptId === event.promptId ? { ...prompt, editedSeq: event.seq } : prompt,
        ),
      };
    case "prompt.moved":
      return { queue: moved(state.queue, event.promptId, event.position) };
    case "session.converted":
      return { kind: event.kind, turn: { turn: "none" }, permissions: [], ...converted(state, event.seq) };
    case "prompt.withdrawn":
    case "prompt.refused":
      return { queue: without(state.queue, event.promptId) };
    case "turn.started":
      return {
        turn: { turn: "open", prompt: event.promptId, startedAt: event.at, answerMayBeLost: false },
        lastActivityAt: event.at,
      };
    case "turn.ended":
      return {
        turn: {
          turn: "ended",
          stopReason: event.stopReason,
          at: event.at,
          ...(event.message === undefined ? {} : { message: shorten(event.message, keptMessage) }),
        },
        // After a forced end the agent may still wait for an answer; otherwise its requests ended with the turn.
        ...(event.stopReason === "forced" ? {} : { permissions: [] }),
        lastActivityAt: event.at,
      };
    case "activity.changed":
      return {
        activity: { activity: event.activity, source: event.source, at: event.at },
        lastActivityAt: event.at,
        ...(event.activity === "working" ? noCutTurn(state) : {}),
      };
    case "chat.opened":
      return {
        agentSessionId: event.agentSessionId,
        ...(event.how === "new" ? { conversationSince: event.at } : {}),
      };
    case "permission.asked":
      return {
        permissions: [
          ...state.permissions.filter((open) => open.requestId !== event.requestId),
          {
            requestId: event.requestId,
            title: event.title,
            options: event.options,
            ...(event.asker === undefined ? {} : { asker: event.asker, seq: event.seq }),
            ...(event.toolCallId === undefined ? {} : { toolCallId: event.toolCallId }),
          },
        ],
        lastActivityAt: event.at,
      };
    case "permission.answered":
      return {
        permissions: state.permissions.filter((open) => open.requestId !== event.requestId),
        lastActivityAt: event.at,
      };
    case "mode.changed":
      return { picks: { ...state.picks, mode: event.mode } };
    case "model.changed":
      return { picks: { ...state.picks, model: event.model } };
    case "config.changed":
      // Values from a configuration file are read from that file again at the next launch.
      return event.picked === undefined || event.by === configurationActor
        ? {}
        : { picks: { ...state.picks, config: { ...state.picks.config, [event.picked.id]: event.picked.value } } };
    case "output.damaged":
      return state.turn.turn === "open" ? { turn: { ...state.turn, answerMayBeLost: true } } : {};
    case "agent.text":
    case "agent.thought":
    case "tool.updated":
    case "plan.updated":
      return { lastActivityAt: event.at };
    case "turn.cancelling":
      return state.turn.turn === "open" ? { turn: { ...state.turn, cancelling: true } } : {};
    case "pull-request.seen":
    case "pull-request.lost":
    case "pull-request.claimed":
    case "issue.seen":
    case "reaction.fired":
    case "reaction.escalated":
    case "reaction.cleared":
    case "notification":
    case "notification.sent":
      return applyTrackerEvent(state, event);
    case "primer.dismissed":
    case "commands.changed":
    case "usage.updated":
    case "auth.required":
    case "workspace.output":
    case "notice":
      return {};
    default:
      event satisfies never;
      return {};
  }
}

/** A chat records the end of each turn; a terminal's turn is only known from its agent's last activity. */
function cutTurn(
  { kind, activity }: SessionState,
  { how, at }: Extract<SessionEvent, { type: "run.ended" }> & { at: number },
): Partial<SessionState> {
  const cut = kind === "terminal" && activity?.activity === "working" && (how === "crash" || how === "lost");
  return cut ? { cutTurn: { how, at } } : {};
}

function noCutTurn({ cutTurn: cut }: SessionState): Partial<SessionState> {
  return cut === undefined ? {} : { cutTurn: null };
}

/** The next start creates a worktree that was never created. */
function plannedAgain({ workspace }: SessionState): Partial<SessionState> {
  const unmade = workspace.at === "planned" || (workspace.at === "gone" && workspace.neverMade === true);
  return unmade ? { workspace: { at: "planned" } } : {};
}

/** The conversion is done: the intent becomes a plain one, newer than the end of the other kind. */
function converted({ intent }: SessionState, seq: number): Partial<SessionState> {
  if (intent.want !== "running" || intent.convert === undefined) return {};
  const { convert: _done, ...plain } = intent;
  return { intent: { ...plain, seq } };
}

/** Puts a prompt back into the queue, also a sent one that was lost with its agent. */
function requeue(queue: QueuedPrompt[], event: { promptId: PromptId; at: number; seq: number }): QueuedPrompt[] {
  const { promptId } = event;
  if (queue.some((prompt) => prompt.promptId === promptId)) return withState(queue, promptId, "queued");
  return [{ promptId, admittedAt: event.at, admittedSeq: event.seq, state: "queued" }, ...queue];
}

function moved(queue: QueuedPrompt[], promptId: string, position: number): QueuedPrompt[] {
  const prompt = queue.find((one) => one.promptId === promptId);
  return prompt === undefined ? queue : without(queue, promptId).toSpliced(position, 0, prompt);
}

function withState(queue: QueuedPrompt[], promptId: string, state: QueuedPrompt["state"]): QueuedPrompt[] {
  return queue.map((prompt) => (prompt.promptId === promptId ? { ...prompt, state } : prompt));
}

function without(queue: QueuedPrompt[], promptId: string): QueuedPrompt[] {
  return queue.filter((prompt) => prompt.promptId !== promptId);
}
