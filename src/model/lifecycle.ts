/**
 * Which verb is legal in which state, and the events it writes. The only place that makes an intent: every verb, whether
 * the user's or a policy's, is checked here against the state it is committed to, and `intend` has the one guard that keeps
 * ended sessions ended.
 */
import type { ErrorCode, ErrorReason } from "../contract/errors.ts";
import type { Attachment, FactEvent, IntentEvent, Judged, SessionEvent } from "../contract/event.ts";
import type { Actor, Conversion, PromptId, Want } from "../contract/ids.ts";
import { isOpen, reactionActor } from "../contract/reaction.ts";
import type { IntentName, SessionState } from "./session.ts";
import { downReason } from "./runs.ts";
import { quoteShellWord } from "./text.ts";

export type Verb =
  | { verb: "stop" | "wake" | "archive" | "unarchive" | "kill" | "delete" | "restore" }
  | { verb: "snooze"; until: number }
  | { verb: "pin" | "unpin" }
  | { verb: "rename"; title: string }
  | { verb: "prompt"; promptId: PromptId; text: string; attachments?: Attachment[] }
  /** `handsOver`: whether the agent can continue a conversation in both kinds. */
  | ({ verb: "convert"; handsOver: boolean } & Conversion)
  | PolicyVerb;

/** Verbs of policies. Each writes nothing if something newer happened since it was planned. */
export type PolicyVerb =
  /** `stop --halt-sessions`: stops running sessions; all others are stopping already. */
  | { verb: "halt" }
  /** Nothing has happened in the session since then. */
  | { verb: "idle-stop"; quietSince: number }
  /** The snooze that this event wrote is over. */
  | { verb: "end-snooze"; snooze: number }
  /** A kill planned for this state: it is dropped if the user or another policy acted since. */
  | { verb: "cleanup"; judged: Pick<SessionState, "intent" | "run" | "queue"> }
  /** The database is older than its home, which runs an agent that the database does not know: the session was running. */
  | { verb: "recover-running"; startedAt: number }
  /** The database is older than its home, and the worktree went to the trash since the intent with this sequence. */
  | { verb: "recover-end"; intent: number; found: readonly FactEvent[] }
  /** This home is a copy: the session's agent, worktree and conversation belong to the home in `original`. */
  | { verb: "copy"; original: string };

/** The actor names of policies. */
export const policyActors = {
  idleStop: "idle-stop",
  snoozeTimer: "snooze-timer",
  cleanup: "cleanup",
  recovery: "recovery",
  copy: "copy",
} as const;

export interface VerbContext {
  by: Actor;
  /** The observed agent: restore is refused unless it is down. */
  agent: "alive" | "down" | { unknown: string };
  /** Whether the worktree is neither in place nor in the trash. Left out if that was not checked. */
  workspaceMissing?: boolean;
}

export type VerbResult =
  | ({ ok: true } & Judged)
  | { ok: false; code: ErrorCode; message: string; hint: string | null; reason?: ErrorReason };

/** @param state null for a session that does not exist. */
export function applyVerb(state: SessionState | null, verb: Verb, context: VerbContext): VerbResult {
  if (state === null || state.intent.want === "deleted") return unknownSession;
  switch (verb.verb) {
    case "stop":
      // An archived session is down already; it stays archived.
      return change(state, context, { want: "stopped" }, ["stopped", "archived"], "stop");
    case "archive":
      return change(state, context, { want: "archived" }, ["archived"], "archive");
    case "snooze":
      return change(state, context, { want: "snoozed", until: verb.until }, [], "snooze");
    case "kill":
      return kill(state, context);
    case "delete":
      return intend(state, { want: "deleted" }, context, "delete");
    case "wake":
      return back(state, context, "snoozed", "wake");
    case "unarchive":
      return back(state, context, "archived", "unarchive");
    case "restore":
      return restore(state, context);
    case "pin":
      return state.pinned === true ? nothing(state) : write(state, [{ type: "session.pinned", by: context.by }]);
    case "unpin":
      return state.pinned === true ? write(state, [{ type: "session.unpinned", by: context.by }]) : nothing(state);
    case "rename":
      return verb.title === state.title
        ? nothing(state)
        : write(state, [{ type: "session.renamed", title: verb.title, by: context.by }]);
    case "prompt":
      return admit(state, verb, context);
    case "convert":
      return convert(state, verb, context);
    case "halt":
      return state.intent.want === "running" ? intend(state, { want: "stopped" }, context, "stop") : nothing(state);
    case "idle-stop":
      return isQuiet(state, verb.quietSince) ? intend(state, { want: "stopped" }, context, "stop") : nothing(state);
    case "end-snooze":
      return state.intent.want === "snoozed" && state.intent.seq === verb.snooze
        ? intend(state, { want: "running" }, context, "wake")
        : nothing(state);
    case "cleanup":
      return isAsJudged(state, verb) ? kill(state, context) : nothing(state);
    case "recover-running":
      return state.intent.want !== "running" && verb.startedAt > state.intent.at
        ? intend(state, { want: "running" }, context, verb.verb)
        : nothing(state);
    case "recover-end":
      return state.intent.seq === verb.intent
        ? intend(state, { want: "killed" }, context, verb.verb, verb.found)
        : nothing(state);
    case "copy":
      return intend(state, { want: "killed" }, context, verb.verb, [
        { type: "session.copied", original: verb.original },
      ]);
    default:
      verb satisfies never;
      throw new Error("unknown verb");
  }
}

const unknownSession = refuse(
  "not-found",
  "Session not found",
  "List sessions: holdfast session ls --include-terminated",
  "session-not-found",
);

function write(state: SessionState, events: readonly SessionEvent[]): VerbResult {
  return { ok: true, events, seq: state.seq };
}

function nothing(state: SessionState): VerbResult {
  return write(state, []);
}

function refuse(code: ErrorCode, message: string, hint: string | null, reason?: ErrorReason): VerbResult {
  return { ok: false, code, message, hint, ...(reason === undefined ? {} : { reason }) };
}

function refuseVerb(message: string, hint: string | null, code: ErrorCode = "conflict"): VerbResult {
  return refuse(code, message, hint, "verb-refused");
}

/**
 * The one place that makes an intent. Nothing leaves `deleted`; only a delete or the user's own restore leaves `killed`
 * (also a restore that an older database forgot), whatever the verb checked before.
 */
function intend(
  state: SessionState,
  want: Want,
  { by }: VerbContext,
  verb: Verb["verb"],
  facts: readonly FactEvent[] = [],
): VerbResult {
  const from = state.intent.want;
  if (from === "deleted") return unknownSession;
  const staysEnded = want.want === "killed" || want.want === "deleted";
  if (from === "killed" && !staysEnded && verb !== "recover-running") {
    if (verb !== "restore") return wasKilled(state, verb);
    if (by !== "person") return refuseVerb(cannot(verb), "Only you can restore a killed session.", "forbidden");
  }
  const event = { type: "session.intent", want, by } as IntentEvent;
  const more = staysEnded && from !== "killed" && verb !== "copy" ? [...comingBack(state), ...facts] : facts;
  return write(state, [event, ...more]);
}

/**
 * A restore in progress, or an interrupted one, may have moved the worktree out of the trash already: it counts as restored,
 * so that the kill finds it and moves it to the trash again [SESSION-42].
 */
function comingBack({ workspace, workspacePath: path }: SessionState): FactEvent[] {
  return workspace.at === "trashed" ? [{ type: "workspace.restored", trash: workspace.trash, path, branch: null }] : [];
}

const cannot = (verb: Verb["verb"]): string => `Cannot ${verb}: Session was killed`;

function change(
  state: SessionState,
  context: VerbContext,
  want: Want,
  already: IntentName[],
  verb: Verb["verb"],
): VerbResult {
  return already.includes(state.intent.want) ? nothing(state) : intend(state, want, context, verb);
}

function kill(state: SessionState, context: VerbContext): VerbResult {
  return change(state, context, { want: "killed" }, ["killed"], "kill");
}

/** Checked when the stop is written: a prompt may have arrived, and a queued one must not be stranded. */
function isQuiet({ intent, lastActivityAt, queue, turn, permissions }: SessionState, since: number): boolean {
  if (intent.want !== "running" || intent.convert !== undefined || intent.at > since) return false;
  return lastActivityAt <= since && queue.length === 0 && turn.turn !== "open" && permissions.length === 0;
}

function isAsJudged(
  { intent, run, queue }: SessionState,
  { judged }: Extract<PolicyVerb, { verb: "cleanup" }>,
): boolean {
  const launchOf = (of: SessionState["run"]): string | null => (of.run === "none" ? null : of.launch);
  return (
    intent.seq === judged.intent.seq &&
    launchOf(run) === launchOf(judged.run) &&
    queue.every(({ promptId }) => judged.queue.some((known) => known.promptId === promptId))
  );
}

function convert(
  state: SessionState,
  { kind, fresh, handsOver }: Extract<Verb, { verb: "convert" }>,
  context: VerbContext,
): VerbResult {
  const { id, intent, prompted } = state;
  if (intent.want === "killed") return wasKilled(state, "convert");
  if (state.kind === kind) {
    const pending = intent.want === "running" && intent.convert !== undefined;
    // A conversion to the other kind was requested and has not started: cancel it.
    if (pending) return intend(state, { want: "running" }, context, "convert");
    return refuse("conflict", `${id} is already a ${kind} session.`, null);
  }
  if (!fresh && !handsOver && prompted) {
    return refuse(
      "conflict",
      `${state.agent} cannot continue its conversation as the other kind.`,
      "Use --fresh to discard the conversation and start a new one.",
    );
  }
  return missing(state, context) ?? intend(state, { want: "running", convert: { kind, fresh } }, context, "convert");
}

/** The last step of a conversion, once the other kind is down. Empty if the user changed the intent since. */
export function conversionEvents(planned: SessionState, state: SessionState, isReset: boolean): FactEvent[] {
  const { intent } = state;
  if (intent.seq !== planned.intent.seq || intent.want !== "running" || intent.convert === undefined) return [];
  if (state.run.run === "launching" || state.run.run === "up") return [];
  const { kind, fresh } = intent.convert;
  return [
    { type: "session.converted", kind, by: intent.by },
    ...(fresh && !isReset
      ? [{ type: "context.reset" as const, reason: freshReason, previous: state.agentSessionId }]
      : []),
  ];
}

export const freshReason = "requested with --fresh";

function back(
  state: SessionState,
  context: VerbContext,
  from: "snoozed" | "archived",
  verb: "wake" | "unarchive",
): VerbResult {
  const { want } = state.intent;
  if (want === from) return missing(state, context) ?? intend(state, { want: "running" }, context, verb);
  if (want === "killed") return wasKilled(state, verb);
  return refuseVerb(`Cannot ${verb}: Session is not ${from}`, want === "running" ? null : wayBack(state));
}

function restore(state: SessionState, context: VerbContext): VerbResult {
  const { want } = state.intent;
  if (want === "running") {
    if (context.agent === "alive") {
      return refuseVerb("Cannot restore: Session is still running", `Attach to it: holdfast attach ${state.id}`);
    }
    // Two agents in one worktree would be worse than a refusal.
    if (context.agent !== "down") {
      return refuseVerb(
        `Cannot restore: Session could not be observed (${context.agent.unknown})`,
        "Holdfast checks again every few seconds. Try again, or run: holdfast doctor",
      );
    }
  }
  // A pending conversion starts it again anyway.
  if (state.intent.want === "running" && state.intent.convert !== undefined) return nothing(state);
  const answer = intend(state, { want: "running" }, context, "restore");
  return answer.ok ? (missing(state, context) ?? answer) : answer;
}

function missing(state: SessionState, context: VerbContext): VerbResult | null {
  const { workspace } = state;
  if (workspace.at === "gone" && workspace.original !== undefined) {
    return refuseVerb(
      `Cannot restore: The session belongs to ${workspace.original}, of which this home is a copy`,
      `Use it there: HOLDFAST_HOME=${quoteShellWord(workspace.original)} holdfast session show ${state.id}`,
    );
  }
  const gone =
    (workspace.at === "gone" && workspace.neverMade !== true) ||
    (workspace.at === "ready" && context.workspaceMissing === true);
  return gone
    ? refuse(
        "conflict",
        `Workspace missing: ${state.workspacePath}`,
        `Holdfast never recreates a missing worktree. Move it back, check the trash: holdfast trash ls, or start over: holdfast spawn ${state.project} --branch ${quoteShellWord(state.branch)}`,
        "worktree-missing",
      )
    : null;
}

function admit(state: SessionState, prompt: Extract<Verb, { verb: "prompt" }>, context: VerbContext): VerbResult {
  const { promptId, text, attachments = [] } = prompt;
  const more = attachments.length === 0 ? {} : { attachments };
  const admitted: FactEvent[] = [
    ...takenUp(state, context),
    { type: "prompt.admitted", promptId, text, by: context.by, ...more },
  ];
  const { intent } = state;
  const converting = intent.want === "running" && intent.convert !== undefined;
  // `false`: a prompt restarts a lost run, even with --no-restore.
  const down = intent.want !== "running" || (!converting && downReason(state, false) !== null);
  return down ? intend(state, { want: "running" }, context, "prompt", admitted) : write(state, admitted);
}

/** Conditions that mean the agent is silent: a new prompt resolves them. */
const silences = ["agent-idle", "exited"] as const;

function takenUp({ reactions = {} }: SessionState, { by }: VerbContext): FactEvent[] {
  if (by === reactionActor) return [];
  const open = silences.filter((name) => isOpen(reactions[name]));
  return open.map((reaction) => ({ type: "reaction.cleared", reaction }));
}

function wasKilled(state: SessionState, verb: Verb["verb"]): VerbResult {
  if (verb === "prompt") return refuse("conflict", "Session was killed", wayBack(state));
  return refuseVerb(cannot(verb), wayBack(state));
}

function wayBack({ id, intent }: SessionState): string {
  const verb = intent.want === "snoozed" ? "wake" : intent.want === "archived" ? "unarchive" : "restore";
  return `Bring it back first: holdfast session ${verb} ${id}`;
}
