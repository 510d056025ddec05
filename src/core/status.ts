/** A session's status: computed from the record and what was observed whenever somebody asks, never stored. */
import type { ExitStatus, SessionState, Status } from "../protocol/session.ts";
import { chatActivity, isStuck } from "./activity.ts";
import type { Observed, RuntimeFacts } from "./facts.ts";
import { pullRequestStatus } from "./pull-request-status.ts";
import { crashBudget, crashWindowMs, isLive, restOf, type Rest } from "./runs.ts";

export interface StatusOptions {
  /** The project's limit of silence for a working agent. */
  stuckAfterMs: number;
  /** Whether the worktree's directory is there; undefined where that is not known. */
  workspaceThere?: boolean | undefined;
  /** False after `start --no-restore`. */
  restoreLost?: boolean;
  /** When the tracker last said that what is on record still holds; null where nobody asked it yet. */
  trackerHeardAt?: number | null;
}

export interface StatusAnswer {
  status: Status;
  /** Why, where the status alone does not say enough. */
  reason: string | null;
}

export function statusOf(
  session: SessionState,
  runtime: Observed<RuntimeFacts>,
  now: number,
  options: StatusOptions,
): StatusAnswer {
  const { want } = session.intent;
  // A tombstone is never listed; whoever asks all the same reads that it is over.
  if (want === "deleted") return { status: "killed", reason: "deleted" };
  if (want !== "running")
    return { status: want, reason: runtime.is === "known" ? "its processes are being ended" : null };
  const alive = runtime.is === "known" && runtime.value.agent.alive && isExpected(session, runtime.value);
  const rest = restOf(session, options.restoreLost ?? true);
  if (rest !== null && !alive) return atRest(session, rest);
  if (!alive && isMissing(session, options)) return { status: "failed", reason: whyMissing(session) };
  if (session.run.run === "none") return { status: "starting", reason: null };
  const unseen = runtime.is === "unknown" ? runtime.why : null;
  if (session.run.run === "launching") {
    return { status: "starting", reason: session.run.attempt > 1 ? `attempt ${session.run.attempt}` : unseen };
  }
  if (runtime.is === "unknown") return { status: "unknown", reason: runtime.why };
  if (session.run.run !== "up") return { status: "starting", reason: startingAgain(session) };
  if (runtime.is === "absent") return { status: "unknown", reason: "it looks gone; not concluded yet" };
  if (!isExpected(session, runtime.value)) return { status: "starting", reason: "an earlier launch is being ended" };
  if (!alive) return { status: "unknown", reason: "the agent has ended; its end is being recorded" };
  return ofLiving(session, runtime.value, now, options);
}

function isExpected(session: SessionState, seen: RuntimeFacts): boolean {
  return isLive(session.run) && session.run.launch === seen.launch;
}

function isMissing(session: SessionState, options: StatusOptions): boolean {
  const { at } = session.workspace;
  return at === "gone" || (at === "ready" && options.workspaceThere === false);
}

function whyMissing({ run, workspace, workspacePath }: SessionState): string {
  return run.run === "none" && workspace.at === "gone"
    ? `The worktree could not be made: ${workspace.reason}`
    : `Workspace missing: ${workspacePath}`;
}

function atRest(session: SessionState, rest: Rest): StatusAnswer {
  const { run } = session;
  switch (rest) {
    case "exited":
      if (session.pullRequest?.state === "merged") return { status: "done", reason: "its pull request is merged" };
      return session.issueSeen?.state === "closed"
        ? { status: "done", reason: "its issue is closed" }
        : { status: "exited", reason: null };
    case "failed":
      return { status: "failed", reason: run.run === "failed" ? run.reason : null };
    case "crashing": {
      const last = run.run === "ended" ? describeExit(run.exit) : "";
      return {
        status: "failed",
        reason: `crashed ${crashBudget} times within ${crashWindowMs / 1000} s, last ${last}`,
      };
    }
    case "lost":
      return { status: "failed", reason: "lost with the machine or its tmux server, and started with --no-restore" };
    default:
      rest satisfies never;
      return { status: "failed", reason: null };
  }
}

function startingAgain({ run }: SessionState): string | null {
  if (run.run !== "ended") return null;
  if (run.how === "crash") return `starting again after a crash (${describeExit(run.exit)})`;
  return run.how === "lost" ? "starting again: it was lost with the machine or its tmux server" : null;
}

export function describeExit(exit: ExitStatus | null): string {
  if (exit === null || (exit.code === null && exit.signal === null)) return "without an exit status";
  // The signal says more: a killed process may report code 0 beside it.
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}

function ofLiving(session: SessionState, seen: RuntimeFacts, now: number, options: StatusOptions): StatusAnswer {
  const { turn } = session;
  // What a chat agent does is on record; what was seen of it may be older than that.
  const activity = session.kind === "chat" ? chatActivity(session) : seen.activity;
  if (activity === "needs_input" || session.permissions.length > 0) return { status: "needs_input", reason: null };
  if (activity === "working") {
    const reason =
      turn.turn === "open" && turn.answerMayBeLost ? "the answer may be lost; the turn can be ended by force" : null;
    const stuck = isStuck("working", session.lastActivityAt, now, options.stuckAfterMs);
    return { status: stuck ? "stuck" : "working", reason };
  }
  // A plain shell has nothing to tell; any other silence is not taken for idleness.
  if (activity === null && session.role !== "shell") {
    return { status: "unknown", reason: "alive, but nothing says what the agent is doing" };
  }
  const { status, reason } = pullRequestStatus(session, now, options.trackerHeardAt ?? null);
  return status === null ? { status: "idle", reason: reason ?? endedBadly(session) } : { status, reason };
}

/** Idle after a turn that came to nothing looks like idle after one that is done, unless it is said. */
function endedBadly({ kind, turn }: SessionState): string | null {
  if (kind !== "chat" || turn.turn !== "ended") return null;
  return badEnds[turn.stopReason] ?? null;
}

const badEnds: Record<string, string> = {
  error: "its last turn failed",
  refusal: "the agent refused to go on",
  max_tokens: "its last answer was cut at the model's limit",
  max_turn_requests: "its last turn was cut at the agent's limit of requests",
  orphaned_at_restart: "the agent was gone before it ended its last turn",
};
