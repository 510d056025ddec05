import type { Action, RuntimeFacts, SessionFacts, StopReason } from "../model/facts.ts";
import { nextLookMs, nextRetryMs } from "../model/runs.ts";
import { askedOrPrompted, downReason, howEnded, isLive, recentCrashes } from "../model/runs.ts";

/** Recheck interval for failed observations: short for a waiting user, cheap enough to repeat forever. */
export const retryUnknownMs = 2_000;
/** A missing worktree may be on a disk that is mounted again later. */
const retryMissingMs = 5_000;
/** Recheck interval while a prompt waits for a starting agent. */
export const retryStartingMs = 500;
const agentStarts = "agent is starting";
/** After this many failed resumes in a row the conversation is considered lost. */
export const resumeFailureLimit = 3;

/**
 * The next action for one session, or null if there is nothing to do. The caller executes it, observes again and asks
 * again, until the result is null or a wait. Rules, first match wins; the intent comes from the record alone:
 *
 * 0. A launch exists that the record never named: the record is older than it, so it is recorded before anything is
 *    decided about it. Nothing is stopped because the record does not know it.
 * 1. `snoozed` past its time: wake.
 * 2. Intent is down (`stopped`, `snoozed`, `archived`, `killed`, `deleted`): a failed observation is repeated; anything
 *    found is stopped, dead or alive; once absent, its end is recorded, an open turn and an interrupted prompt are
 *    settled, and commands still creating its worktree are cancelled. `killed` and `deleted` then remove the worktree.
 *    No path leads from here to a launch.
 * 3. Intent is `running` as the other kind: anything found is stopped, its end is recorded, then the kind changes.
 * 4. Intent is `running` and due for a launch, but without a worktree: create it, or restore it from the trash. A worktree
 *    trashed after the intent was written belongs to a session whose end the record lost; it stays in the trash.
 * 5. Runtime unknown: wait.
 * 6. A recorded launch other than the expected one exists: stop it, so that there is at most one agent.
 * 7. The expected agent is alive: adopt it if that is not recorded; stop a chat agent that is deaf, of another build and
 *    idle, or due for a restart, to launch it again; else settle an interrupted prompt, else deliver the next one.
 * 8. The expected agent is dead: record the end by exit code and signal; then clear its leftovers.
 * 9. Absent: record the end, settle the turn, settle an interrupted prompt.
 * 10. Down, and nothing keeps it down (own exit, failed launch, used-up crash budget, `--no-restore`; a missing worktree
 *    is never recreated): launch, resuming its conversation if there is one. A launch whose program is missing waits; a
 *    prompt or a restore retries it immediately.
 *
 * While the mass-death breaker waits for a second observation, nothing is concluded from an unproven death.
 */
export function decide(facts: SessionFacts, now: number): Action | null {
  const { intent } = facts.session;
  if (facts.runtime.is === "known" && facts.runtime.value.unrecorded === true) return { do: "adopt-unrecorded" };
  switch (intent.want) {
    case "running":
      return intent.convert === undefined ? keepRunning(facts, now) : convert(facts, now);
    case "stopped":
    case "archived":
      return bringDown(facts, now, "wanted-down");
    case "snoozed":
      if (now >= intent.until) return { do: "wake" };
      return bringDown(facts, now, "wanted-down") ?? { do: "wait", until: intent.until, why: "snoozed" };
    case "killed":
    case "deleted":
      return bringDown(facts, now, intent.want) ?? removeWorktree(facts, now);
    default:
      intent satisfies never;
      return null;
  }
}

function bringDown(facts: SessionFacts, now: number, why: StopReason): Action | null {
  const { runtime } = facts;
  if (runtime.is === "unknown") return waitToObserve(runtime.why, now);
  // A dead agent's pane or keeper is stopped too, so nothing is left behind.
  if (runtime.is === "known") return { do: "stop", why };
  const end = unlessRechecking(facts, now, conclude(facts, "stopped"));
  return end ?? (facts.isCreating === true ? { do: "cancel-create" } : null);
}

/** The old kind is down, and everything about it is recorded, before the new kind starts. */
function convert(facts: SessionFacts, now: number): Action | null {
  const { runtime } = facts;
  if (runtime.is === "unknown") return waitToObserve(runtime.why, now);
  if (runtime.is === "known") return { do: "stop", why: "convert" };
  return unlessRechecking(facts, now, conclude(facts, "stopped") ?? { do: "convert" });
}

function removeWorktree(facts: SessionFacts, now: number): Action | null {
  const { at } = facts.session.workspace;
  if (at !== "ready" && at !== "planned") return null;
  if (facts.workspace.is === "unknown") return waitToObserve(facts.workspace.why, now);
  // Also if the directory is missing: the executor finds it in the trash after a crash, or records that it is gone.
  return unlessRechecking(facts, now, { do: "remove-workspace" });
}

function keepRunning(facts: SessionFacts, now: number): Action | null {
  const { runtime } = facts;
  const prepare = prepareWorktree(facts);
  if (prepare !== null) return prepare;
  if (runtime.is === "unknown") return waitToObserve(runtime.why, now);
  if (runtime.is === "known") return tend(facts, runtime.value, now);
  // A launch that was never observed did not start: its daemon died first. No agent crashed.
  const neverStarted = facts.session.run.run === "launching" && facts.restoreLost;
  const lost = neverStarted || facts.absence === "other-boot" || facts.absence === "no-server";
  const end = conclude(facts, facts.absence === "stopped" ? "stopped" : lost ? "lost" : "crash");
  return unlessRechecking(facts, now, end ?? launch(facts, now));
}

function prepareWorktree(facts: SessionFacts): Action | null {
  const { session } = facts;
  if (isLive(session.run)) return null;
  const { at } = session.workspace;
  const moved = at === "ready" && facts.workspaceInTrash === true && facts.workspace.is === "absent";
  // Even if nothing would start it again: the session was ended, it did not fail.
  if (moved && facts.trashedUnrecorded === true) return { do: "stay-ended" };
  if (downReason(session, facts.restoreLost) !== null) return null;
  if (at === "planned") return { do: "create-workspace" };
  return at === "trashed" || moved ? { do: "restore-workspace" } : null;
}

function tend(facts: SessionFacts, seen: RuntimeFacts, now: number): Action | null {
  const { run } = facts.session;
  if (run.run === "none" || run.launch !== seen.launch) return { do: "stop", why: "superseded" };
  if (run.run === "failed") return { do: "stop", why: "leftover" };
  if (seen.agent.alive) {
    // Recorded as `ended` but alive: that conclusion was wrong, and live work is kept.
    if (run.run !== "up") return { do: "adopt" };
    const replaced = replacement(facts, seen);
    return replaced === null ? nextPrompt(facts, seen, now) : { do: "stop", why: replaced };
  }
  if (run.run === "ended") return { do: "stop", why: "leftover" };
  const { exit } = seen.agent;
  // Its daemon died first: no agent crashed.
  const neverStarted = run.run === "launching" && seen.neverStarted === true && facts.restoreLost;
  const lost = neverStarted || facts.absence === "no-server";
  // An interrupted or withdrawn stop ended it: neither an own exit nor a crash.
  const how = facts.absence === "stopped" ? "stopped" : lost ? "lost" : howEnded(exit, facts.session);
  const end: Action = { do: "record-end", how, exit, lastLines: seen.lastLines };
  // The turn is settled once the whole process tree is gone: until then its answer may still be written.
  return exit === null ? unlessRechecking(facts, now, end) : end;
}

/** Why a live chat agent is stopped to be resumed; a turn that can still end on its own is left to do so. */
function replacement({ session, restartRequested }: SessionFacts, seen: RuntimeFacts): StopReason | null {
  if (session.kind !== "chat") return null;
  if (restartRequested === true) return "restart";
  const inTurn = session.turn.turn === "open" && session.turn.prompt !== null;
  // An unanswerable permission request would block the turn forever.
  if (seen.deaf === true && (!inTurn || session.permissions.length > 0)) return "deaf";
  return seen.stale === true && !inTurn && session.permissions.length === 0 ? "stale" : null;
}

function nextPrompt(facts: SessionFacts, seen: RuntimeFacts, now: number): Action | null {
  const { session } = facts;
  const interrupted = settlePrompt(facts);
  if (interrupted !== null) return interrupted;
  // One prompt in flight for a chat agent; a terminal agent queues input while it works.
  if (session.kind === "chat" && session.turn.turn === "open" && session.turn.prompt !== null) return null;
  // Typed text would answer an open permission request.
  if (seen.activity === "needs_input") return null;
  const next = session.queue.find((prompt) => prompt.state === "queued");
  if (next === undefined) return null;
  // Text typed before the agent is ready is lost, however long that takes.
  if (seen.starting === true) return { do: "wait", until: now + retryStartingMs, why: agentStarts };
  return { do: "deliver", prompt: next.promptId };
}

/** The next fact to record about an absent agent. */
function conclude(facts: SessionFacts, how: "stopped" | "lost" | "crash"): Action | null {
  const { run, turn } = facts.session;
  if (isLive(run)) return { do: "record-end", how, exit: null, lastLines: [] };
  return turn.turn === "open" ? { do: "settle-turn", as: "orphaned_at_restart" } : settlePrompt(facts);
}

function settlePrompt({ session }: SessionFacts): Action | null {
  const interrupted = session.queue.find((prompt) => prompt.state === "sending");
  return interrupted === undefined ? null : { do: "settle-prompt", prompt: interrupted.promptId };
}

function launch(facts: SessionFacts, now: number): Action | null {
  const { session, workspace } = facts;
  if (downReason(session, facts.restoreLost) !== null || session.workspace.at !== "ready") return null;
  if (workspace.is === "unknown") return waitToObserve(workspace.why, now);
  // Never recreated: that would drop uncommitted work. The status reports the missing worktree.
  if (workspace.is === "absent") {
    // A queued prompt is sent once the worktree is back.
    const isQueued = session.queue.some(({ state }) => state === "queued");
    return isQueued ? { do: "wait", until: now + retryMissingMs, why: "the worktree is missing" } : null;
  }
  const resumable = session.prompted && session.agentSessionId !== null && facts.canResume;
  if (resumable && session.resumeFailures >= resumeFailureLimit) {
    const why = `${session.resumeFailures} attempts in a row to resume the conversation failed`;
    return { do: "reset-context", why };
  }
  return (
    waitForProgram(facts, now) ?? { do: "launch", how: resumable ? "resume" : "fresh", attempt: attemptOf(session) }
  );
}

function waitForProgram({ session, program }: SessionFacts, now: number): Action | null {
  if (program?.is === "missing") {
    return { do: "wait", until: now + nextLookMs(now - program.since), why: program.why };
  }
  const { run } = session;
  if (run.run !== "failed" || run.retry === undefined || askedOrPrompted(session, run.seq)) return null;
  const until = run.at + nextRetryMs(run.retry.attempt);
  return now < until ? { do: "wait", until, why: run.reason } : null;
}

function attemptOf(session: SessionFacts["session"]): number {
  const { run } = session;
  if (run.run === "ended" && run.how === "crash") return recentCrashes(session) + 1;
  return run.run === "failed" && run.retry !== undefined && !askedOrPrompted(session, run.seq)
    ? run.retry.attempt + 1
    : 1;
}

function unlessRechecking(facts: SessionFacts, now: number, action: Action | null): Action | null {
  const { recheckAt } = facts;
  if (action === null || facts.absence !== null || recheckAt === null || now >= recheckAt) return action;
  return { do: "wait", until: recheckAt, why: "most sessions look dead at once; checking again before concluding" };
}

function waitToObserve(why: string, now: number): Action {
  return { do: "wait", until: now + retryUnknownMs, why: `could not be observed: ${why}` };
}
