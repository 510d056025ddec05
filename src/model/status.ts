/** A session's status: computed from its state and the observation on each request, never stored. */
import type { SessionState } from "./session.ts";
import type { Activity, ExitStatus, Status } from "../contract/ids.ts";
import type { Observed, RuntimeFacts } from "./facts.ts";
import { pullRequestStatus } from "./pull-requests.ts";
import { crashBudget, crashWindowMs, isLive, downReason, type DownReason } from "./runs.ts";
import { shorten } from "./text.ts";
import { stopFailure } from "./transcript/item-text.ts";

export function chatActivity({ permissions, turn }: Pick<SessionState, "permissions" | "turn">): Activity {
  if (permissions.length > 0) return "needs_input";
  return turn.turn === "open" ? "working" : "idle";
}

/** Working, but without activity for longer than the limit. Shown to the user only. */
export function isStuck(activity: Activity | null, lastActivityAt: number, now: number, stuckAfterMs: number): boolean {
  return activity === "working" && now - lastActivityAt > stuckAfterMs;
}

interface FailedTurn {
  /** Identifies this turn among the session's turns. */
  key: string;
  /** Lower-case fragment, with the agent's own message if any. */
  why: string;
}

const longestMessage = 300;

/** The session's latest turn, if it failed, was refused or was cut, and no turn has started since. */
export function failedTurn({ kind, turn, cutTurn }: SessionState): FailedTurn | null {
  if (kind === "terminal") {
    if (cutTurn === undefined || cutTurn === null) return null;
    const why =
      cutTurn.how === "crash"
        ? "the agent crashed during its last turn and was restarted"
        : "its last turn was cut by a reboot or tmux crash";
    return { key: `cut:${cutTurn.at}`, why };
  }
  if (turn.turn !== "ended") return null;
  const why = stopFailure(turn.stopReason);
  if (why === null) return null;
  const message = shorten(turn.message?.replace(/\s+/g, " ").trim() ?? "", longestMessage);
  return { key: `turn:${turn.at}:${turn.stopReason}`, why: message === "" ? why : `${why}: ${message}` };
}

export interface StatusOptions {
  /** After this long without activity a working agent counts as stuck. */
  stuckAfterMs: number;
  /** Whether the worktree's directory exists; undefined if unknown. */
  workspaceThere?: boolean | undefined;
  /** False after `start --no-restore`. */
  restoreLost?: boolean;
  /** Why the agent's program cannot be launched; null if it can, or was not checked. */
  missingProgram?: string | null;
  /** When a poll last confirmed the recorded pull request; null before the first poll. */
  polledAt?: number | null;
}

export interface StatusResult {
  status: Status;
  /** Why, if the status alone is not clear. */
  reason: string | null;
  /** The latest turn failed, was refused or was cut, and needs the user although the agent itself is fine. */
  turnFailed?: true;
}

export function statusOf(
  session: SessionState,
  runtime: Observed<RuntimeFacts>,
  now: number,
  options: StatusOptions,
): StatusResult {
  const { want } = session.intent;
  // A deleted session is never listed; a direct request still gets a status.
  if (want === "deleted") return { status: "killed", reason: "deleted" };
  if (want !== "running") return { status: want, reason: runtime.is === "known" ? "stopping" : null };
  const { intent } = session;
  if (intent.want === "running" && intent.convert !== undefined)
    return { status: "starting", reason: `converting to ${intent.convert.kind}` };
  const alive = runtime.is === "known" && runtime.value.agent.alive && isExpected(session, runtime.value);
  const down = downReason(session, options.restoreLost ?? true);
  if (down !== null && !alive) return whileDown(session, down);
  const { at } = session.workspace;
  if (!alive && (at === "gone" || (at === "ready" && options.workspaceThere === false)))
    return { status: "failed", reason: whyMissing(session) };
  const missing = options.missingProgram ?? null;
  if (missing !== null && !isLive(session.run)) return { status: "starting", reason: `${missing}; retrying` };
  if (session.run.run === "none") return { status: "starting", reason: null };
  const unseen = runtime.is === "unknown" ? runtime.why : null;
  if (session.run.run === "launching") {
    return { status: "starting", reason: session.run.attempt > 1 ? `attempt ${session.run.attempt}` : unseen };
  }
  if (runtime.is === "unknown") return { status: "unknown", reason: runtime.why };
  if (session.run.run !== "up") return { status: "starting", reason: startingAgain(session) };
  if (runtime.is === "absent") return { status: "unknown", reason: "appears to have exited; verifying" };
  if (!isExpected(session, runtime.value)) return { status: "starting", reason: "stopping an earlier launch" };
  if (!alive) return { status: "unknown", reason: "the agent exited; recording how" };
  return ofLiving(session, runtime.value, now, options);
}

function isExpected(session: SessionState, seen: RuntimeFacts): boolean {
  return isLive(session.run) && session.run.launch === seen.launch;
}

function whyMissing({ run, workspace, workspacePath }: SessionState): string {
  return run.run === "none" && workspace.at === "gone"
    ? notCreated(workspace.reason)
    : `Workspace missing: ${workspacePath}`;
}

function whileDown(session: SessionState, down: DownReason): StatusResult {
  const { run } = session;
  switch (down) {
    case "exited":
      if (session.pullRequest?.state === "merged") return { status: "done", reason: "its pull request is merged" };
      return session.issueSeen?.state === "closed"
        ? { status: "done", reason: "its issue is closed" }
        : { status: "exited", reason: null };
    case "failed":
      return { status: "failed", reason: whyFailed(session) };
    case "crashing": {
      const last = run.run === "ended" ? describeExit(run.exit) : "";
      return {
        status: "failed",
        reason: `crashed ${crashBudget} times within ${crashWindowMs / 1000} s, last ${last}`,
      };
    }
    case "lost":
      return { status: "failed", reason: "lost to a reboot or tmux crash; not restarted because of --no-restore" };
    default:
      down satisfies never;
      return { status: "failed", reason: null };
  }
}

function whyFailed({ run, workspace }: SessionState): string | null {
  if (workspace.at === "planned" && workspace.failed !== undefined) return notCreated(workspace.failed);
  if (run.run !== "failed") return null;
  return run.retry === undefined ? run.reason : `${clause(run.reason)}; ${run.retry.attempt} attempts failed`;
}

/** The sentence without its period, to be continued. */
const clause = (sentence: string): string => sentence.replace(/\.$/, "");

const notCreated = (why: string): string => `The worktree could not be created: ${why}`;

function startingAgain({ run }: SessionState): string | null {
  if (run.run === "failed")
    return run.retry === undefined ? null : `${clause(run.reason)}; retrying (failed attempts: ${run.retry.attempt})`;
  if (run.run !== "ended") return null;
  if (run.how === "crash") return `restarting after a crash (${describeExit(run.exit)})`;
  return run.how === "lost" ? "restarting: it was lost to a reboot or tmux crash" : null;
}

export function describeExit(exit: ExitStatus | null): string {
  if (exit === null || (exit.code === null && exit.signal === null)) return "without an exit status";
  // The signal is more precise: a killed process may report code 0 with it.
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}

function ofLiving(session: SessionState, seen: RuntimeFacts, now: number, options: StatusOptions): StatusResult {
  const { turn } = session;
  // A chat agent's activity is recorded; the observation may be older.
  const activity = session.kind === "chat" ? chatActivity(session) : seen.activity;
  if (activity === "needs_input" || session.permissions.length > 0) {
    return { status: "needs_input", reason: session.kind === "chat" ? null : (seen.asks ?? null) };
  }
  if (activity === "working") {
    const reason =
      turn.turn === "open" && turn.answerMayBeLost
        ? "part of the answer may be lost; you can force-end the turn"
        : null;
    const stuck = isStuck("working", session.lastActivityAt, now, options.stuckAfterMs);
    return { status: stuck ? "stuck" : "working", reason };
  }
  if (activity === null && seen.starting === true) return { status: "starting", reason: null };
  const failed = failedTurn(session);
  const { status, reason } = pullRequestStatus(session, now, options.polledAt ?? null);
  // Silence is not idleness: a command that reports nothing is running, and nothing more is known.
  const alive = activity === null ? "running" : "idle";
  // A queued prompt responds to the failure: its turn starts soon.
  if (failed === null || session.queue.length > 0) return { status: status ?? alive, reason };
  return { status: status ?? alive, reason: failed.why, turnFailed: true };
}
