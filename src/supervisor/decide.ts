import type { Action, RuntimeFacts, SessionFacts, StopReason } from "../model/facts.ts";
import {
  nextLookMs,
  nextRetryMs,
  askedOrPrompted,
  howEnded,
  isLive,
  recentCrashes,
  downReason,
} from "../model/runs.ts";

/** What could not be seen is looked at again after this: soon enough for a person who waits, cheap enough for ever. */
export const retryUnknownMs = 2_000;
/** A worktree that is missing may be on a disk that comes back. */
const retryMissingMs = 5_000;
/** A prompt waits for an agent that starts: it is looked at again after this. */
export const retryStartingMs = 500;
const agentStarts = "agent is starting";
/** So many resumes in a row that failed say that the conversation is not coming back. */
export const resumeFailureLimit = 3;

/**
 * What to do next for one session. The caller performs the list in order, observes again and asks again, until the
 * answer is empty or a wait. Rules, first match wins; intent comes from the record alone:
 *
 * 0. A launch is there that the record never named: the record is older than it, so it is written down before anything
 *    is decided about it. Nothing is ended because the record does not know it.
 * 1. `snoozed` past its time: wake.
 * 2. Wanted down (`stopped`, `snoozed`, `archived`, `killed`, `deleted`): what could not be observed is waited for; what
 *    is there is stopped, dead or alive; once absent, its end is recorded, an open turn and an interrupted prompt are
 *    settled, and commands that still make its worktree are ended. `killed` and `deleted` then clear the worktree away.
 *    No path leads from here to a launch.
 * 3. Wanted `running` as the other kind: what is there is stopped, its end is recorded, then the kind changes.
 * 4. Wanted `running` and due for a launch, but without a worktree: it is made, or brought back from the trash; one that
 *    was moved there after the intent was written belongs to a session whose end the record lost, and stays there.
 * 5. Runtime unknown: wait.
 * 6. Another launch on record than the expected one is there: stop it, so that there is one agent at most.
 * 7. The expected agent lives: adopt it if that is not on record; a chat agent that is deaf, of another build and
 *    idle, or to be restarted is stopped to be launched again; else settle an interrupted prompt, else deliver the next.
 * 8. The expected agent is dead: record the end by exit code and signal; then clear what it left.
 * 9. Absent: record the end, settle the turn, settle an interrupted prompt.
 * 10. Down, and nothing holds it there (own exit, failed launch, used-up crash budget, `--no-restore`; a missing
 *    worktree is never created again): launch, into its conversation where there is one. A launch whose program is
 *    missing waits; a prompt or a restore retries it at once.
 *
 * While the mass-death breaker asks for a second look, nothing is concluded from a death that is not proven.
 */
export function decide(facts: SessionFacts, now: number): Action[] {
  const { intent } = facts.session;
  if (facts.runtime.is === "known" && facts.runtime.value.unrecorded === true) return [{ do: "adopt-unrecorded" }];
  switch (intent.want) {
    case "running":
      return intent.convert === undefined ? keepRunning(facts, now) : convert(facts, now);
    case "stopped":
    case "archived":
      return bringDown(facts, now, "wanted-down");
    case "snoozed": {
      if (now >= intent.until) return [{ do: "wake" }];
      const actions = bringDown(facts, now, "wanted-down");
      return actions.length > 0 ? actions : [{ do: "wait", until: intent.until, why: "snoozed" }];
    }
    case "killed":
    case "deleted": {
      const actions = bringDown(facts, now, intent.want);
      return actions.length > 0 ? actions : clearAway(facts, now);
    }
    default:
      intent satisfies never;
      return [];
  }
}

function bringDown(facts: SessionFacts, now: number, why: StopReason): Action[] {
  const { runtime } = facts;
  if (runtime.is === "unknown") return [waitForSight(runtime.why, now)];
  // A dead agent's pane or keeper is stopped too: nothing is left behind.
  if (runtime.is === "known") return [{ do: "stop", why }];
  const ending = unlessLookingAgain(facts, now, conclude(facts, "stopped"));
  return ending.length === 0 && facts.isCreating === true ? [{ do: "cancel-create" }] : ending;
}

/** One side is down, and everything about it is on record, before the other begins. */
function convert(facts: SessionFacts, now: number): Action[] {
  const { runtime } = facts;
  if (runtime.is === "unknown") return [waitForSight(runtime.why, now)];
  if (runtime.is === "known") return [{ do: "stop", why: "convert" }];
  const ending = conclude(facts, "stopped");
  return unlessLookingAgain(facts, now, ending.length > 0 ? ending : [{ do: "convert" }]);
}

function clearAway(facts: SessionFacts, now: number): Action[] {
  const { at } = facts.session.workspace;
  if (at !== "ready" && at !== "planned") return [];
  if (facts.workspace.is === "unknown") return [waitForSight(facts.workspace.why, now)];
  // Also when the directory is missing: the performer finds it in the trash after a crash, or records that it is gone.
  return unlessLookingAgain(facts, now, [{ do: "remove-workspace" }]);
}

function keepRunning(facts: SessionFacts, now: number): Action[] {
  const { runtime } = facts;
  const prepare = prepareWorkspace(facts);
  if (prepare.length > 0) return prepare;
  if (runtime.is === "unknown") return [waitForSight(runtime.why, now)];
  if (runtime.is === "known") return tend(facts, runtime.value, now);
  // A launch of which nothing was ever seen never came to be: its daemon died first. No agent crashed.
  const neverMade = facts.session.run.run === "launching" && facts.restoreLost;
  const lost = neverMade || facts.absence === "other-boot" || facts.absence === "no-server";
  const ending = conclude(facts, facts.absence === "stopped" ? "stopped" : lost ? "lost" : "crash");
  return unlessLookingAgain(facts, now, ending.length > 0 ? ending : launch(facts, now));
}

function prepareWorkspace(facts: SessionFacts): Action[] {
  const { session } = facts;
  if (isLive(session.run)) return [];
  const { at } = session.workspace;
  const moved = at === "ready" && facts.workspaceInTrash === true && facts.workspace.is === "absent";
  // Also where nothing would start it again: it is not a session that failed.
  if (moved && facts.trashedUnrecorded === true) return [{ do: "stay-ended" }];
  if (downReason(session, facts.restoreLost) !== null) return [];
  if (at === "planned") return [{ do: "create-workspace" }];
  return at === "trashed" || moved ? [{ do: "restore-workspace" }] : [];
}

function tend(facts: SessionFacts, seen: RuntimeFacts, now: number): Action[] {
  const { run } = facts.session;
  if (run.run === "none" || run.launch !== seen.launch) return [{ do: "stop", why: "superseded" }];
  if (run.run === "failed") return [{ do: "stop", why: "leftover" }];
  if (seen.agent.alive) {
    // `ended` and yet alive: what concluded its end was wrong, and live work is kept.
    if (run.run !== "up") return [{ do: "adopt" }];
    const replaced = replacement(facts, seen);
    return replaced === null ? nextPrompt(facts, seen, now) : [{ do: "stop", why: replaced }];
  }
  if (run.run === "ended") return [{ do: "stop", why: "leftover" }];
  const { exit } = seen.agent;
  // Its daemon died first: no agent crashed.
  const neverMade = run.run === "launching" && seen.neverStarted === true && facts.restoreLost;
  const lost = neverMade || facts.absence === "no-server";
  // It neither left nor crashed: a stop that was cut off or taken back ended it.
  const how = facts.absence === "stopped" ? "stopped" : lost ? "lost" : howEnded(exit, facts.session);
  const end: Action = { do: "record-end", how, exit, lastLines: seen.lastLines };
  // The turn is settled when the whole tree is gone: until then its answer may still be written.
  return exit === null ? unlessLookingAgain(facts, now, [end]) : [end];
}

/** Why a living chat agent is ended so that it can be resumed; a turn that can still end by itself is let to do so. */
function replacement({ session, restartRequested }: SessionFacts, seen: RuntimeFacts): StopReason | null {
  if (session.kind !== "chat") return null;
  if (restartRequested === true) return "restart";
  const inTurn = session.turn.turn === "open" && session.turn.prompt !== null;
  // A question that nobody can answer any more would hold the turn for ever.
  if (seen.deaf === true && (!inTurn || session.permissions.length > 0)) return "deaf";
  return seen.stale === true && !inTurn && session.permissions.length === 0 ? "stale" : null;
}

function nextPrompt(facts: SessionFacts, seen: RuntimeFacts, now: number): Action[] {
  const { session } = facts;
  const interrupted = settlePrompt(facts);
  if (interrupted.length > 0) return interrupted;
  // One prompt in flight for a chat agent; a terminal agent queues what is typed while it works.
  if (session.kind === "chat" && session.turn.turn === "open" && session.turn.prompt !== null) return [];
  // What is typed into an open question would answer it.
  if (seen.activity === "needs_input") return [];
  const next = session.queue.find((prompt) => prompt.state === "queued");
  if (next === undefined) return [];
  // What is typed before the agent is ready is lost, however long that takes.
  if (seen.starting === true) return [{ do: "wait", until: now + retryStartingMs, why: agentStarts }];
  return [{ do: "deliver", prompt: next.promptId }];
}

/** What has to be written down about something that is absent. */
function conclude(facts: SessionFacts, how: "stopped" | "lost" | "crash"): Action[] {
  const { run, turn } = facts.session;
  const settleTurn: Action[] = turn.turn === "open" ? [{ do: "settle-turn", as: "orphaned_at_restart" }] : [];
  if (isLive(run)) return [{ do: "record-end", how, exit: null, lastLines: [] }, ...settleTurn];
  return settleTurn.length > 0 ? settleTurn : settlePrompt(facts);
}

function settlePrompt({ session }: SessionFacts): Action[] {
  const interrupted = session.queue.find((prompt) => prompt.state === "sending");
  return interrupted === undefined ? [] : [{ do: "settle-prompt", prompt: interrupted.promptId }];
}

function launch(facts: SessionFacts, now: number): Action[] {
  const { session, workspace } = facts;
  if (downReason(session, facts.restoreLost) !== null || session.workspace.at !== "ready") return [];
  if (workspace.is === "unknown") return [waitForSight(workspace.why, now)];
  // Never made anew: that would drop what was not committed. The status says what is missing.
  if (workspace.is === "absent") {
    // A prompt that waits for it goes out when it is back.
    const waits = session.queue.some(({ state }) => state === "queued");
    return waits ? [{ do: "wait", until: now + retryMissingMs, why: "the worktree is missing" }] : [];
  }
  const resumable = session.prompted && session.agentSessionId !== null && facts.canResume;
  if (resumable && session.resumeFailures >= resumeFailureLimit) {
    return [
      { do: "reset-context", why: `${session.resumeFailures} attempts in a row to resume the conversation failed` },
    ];
  }
  const missing = waitForProgram(facts, now);
  if (missing !== null) return [missing];
  return [{ do: "launch", how: resumable ? "resume" : "fresh", attempt: attemptOf(session) }];
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

function unlessLookingAgain(facts: SessionFacts, now: number, actions: Action[]): Action[] {
  const { recheckAt } = facts;
  if (actions.length === 0 || facts.absence !== null || recheckAt === null || now >= recheckAt) return actions;
  return [{ do: "wait", until: recheckAt, why: "most sessions look dead at once; looking again before concluding" }];
}

function waitForSight(why: string, now: number): Action {
  return { do: "wait", until: now + retryUnknownMs, why: `could not be observed: ${why}` };
}
