/** The latest launch: how it ended, whether its program can start, and whether the session may be launched again. */
import type { Run, SessionState } from "./session.ts";
import type { EndedHow, ExitStatus, LaunchId } from "../contract/ids.ts";

export function notOnPath(program: string): string {
  return `${program} was not found on PATH`;
}

/** The build that would be launched now, as far as it can be read. */
export interface SeenBuild {
  /** Null: a file of it is missing or cannot be read. */
  build: string | null;
  /** When it was first seen like this. */
  since: number;
}

/** A new program must stay the same for this long before a running agent is restarted for it. */
export const settledBuildMs = 5_000;

/** Whether a running agent is of another build than would be launched now. */
export function isStaleBuild(recorded: string, seen: SeenBuild, now: number): boolean {
  return seen.build !== null && seen.build !== recorded && now - seen.since >= settledBuildMs;
}

/** Exit codes of sh if it could not start the agent: not found; not executable, or still being written. */
export function couldNotStart(exit: ExitStatus | null): boolean {
  return exit !== null && exit.signal === null && (exit.code === 127 || exit.code === 126);
}

const firstRetryMs = 1_000;
/** Checking for a file is cheap; each failed launch leaves events. */
const longestLookMs = 30_000;
const longestRetryMs = 5 * 60_000;

/** The delay before the next check for a program that has been missing for this long. */
export function nextLookMs(missingForMs: number): number {
  return Math.min(Math.max(missingForMs, firstRetryMs), longestLookMs);
}

/** The delay after a launch that could not start its program. */
export function nextRetryMs(attempt: number): number {
  return Math.min(firstRetryMs * 2 ** Math.min(attempt - 1, 20), longestRetryMs);
}

const retryForMs = 60 * 60_000;

/** Whether failed starts have been retried for an hour: an npm update is done by then. */
export function isLastRetry(attempt: number): boolean {
  let waited = 0;
  for (let one = 1; one <= attempt && waited <= retryForMs; one++) waited += nextRetryMs(one);
  return waited > retryForMs;
}

/** Three crashes within a minute are a loop: the session stays down until the user starts it again. */
export const crashBudget = 3;
export const crashWindowMs = 60_000;

export type LiveRun = Extract<Run, { run: "launching" | "up" }>;

/** The launch on record, running or not. */
export function expectedLaunch({ run }: Pick<SessionState, "run">): LaunchId | null {
  return run.run === "none" ? null : run.launch;
}

/** Whether the record expects a process. */
export function isLive(run: Run): run is LiveRun {
  return run.run === "launching" || run.run === "up";
}

/** By code and signal both: a SIGKILL can be reported as code 0, and sh knows a signal only as 128 + n. */
export function howEnded(
  exit: ExitStatus | null,
  { kind, role }: Pick<SessionState, "kind" | "role">,
): Extract<EndedHow, "own-exit" | "crash"> {
  return exit !== null && (isOwnExit(exit) || (kind === "terminal" && isLeaving(exit, role))) ? "own-exit" : "crash";
}

const isOwnExit = ({ code, signal }: ExitStatus): boolean => code === 0 && signal === null;

/** What sh and many agents make of SIGINT. */
const interruptedCode = 130;

/** In a terminal the user presses Ctrl-C, and a shell that the user leaves exits with its last command's code. */
function isLeaving({ code, signal }: ExitStatus, role: SessionState["role"]): boolean {
  return signal === "SIGINT" || (signal === null && (code === interruptedCode || role === "shell"));
}

/**
 * Crashes in a row, each within the window of the latest. Measured from the latest crash and not from now: otherwise a
 * session that used up its budget would restart automatically a minute later.
 */
export function recentCrashes({ crashes }: Pick<SessionState, "crashes">): number {
  const latest = crashes.at(-1);
  if (latest === undefined) return 0;
  // One that is dated after the latest was written before the clock went back: how long ago it was is not known.
  return crashes.filter((at) => at <= latest && latest - at < crashWindowMs).length;
}

/** Why a session that should run stays down. */
export type DownReason = "exited" | "failed" | "crashing" | "lost";

/** Null if nothing prevents a launch, or if the run is live. */
export function downReason(session: SessionState, restoreLost: boolean): DownReason | null {
  const { run, workspace } = session;
  // The next intent to run clears it.
  if (workspace.at === "planned" && workspace.failed !== undefined) return "failed";
  if (run.run === "failed") {
    const retries = run.retry !== undefined && !isLastRetry(run.retry.attempt);
    return retries || askedOrPrompted(session, run.seq) ? null : "failed";
  }
  if (run.run !== "ended") return null;
  const { how } = run;
  switch (how) {
    case "own-exit":
      return askedSince(session, run.seq) || promptedSince(session, run.seq) ? null : "exited";
    case "lost":
      return restoreLost || askedSince(session, run.seq) || promptedSince(session, run.seq) ? null : "lost";
    case "crash":
      // A queued prompt does not lift it: each one would continue the crash loop.
      return askedSince(session, run.seq) || recentCrashes(session) < crashBudget ? null : "crashing";
    case "stopped":
      return null;
    default:
      how satisfies never;
      return null;
  }
}

/** Whether the next launch is automatic: no request since the last one ended, so no client waits for it. */
export function isRelaunch(session: SessionState): boolean {
  const { run } = session;
  return run.run === "ended" && run.how !== "own-exit" && !askedSince(session, run.seq);
}

export function askedOrPrompted(session: Pick<SessionState, "intent" | "queue">, seq: number): boolean {
  return askedSince(session, seq) || promptedSince(session, seq);
}

function askedSince({ intent }: Pick<SessionState, "intent">, seq: number): boolean {
  return intent.seq > seq;
}

function promptedSince({ queue }: Pick<SessionState, "queue">, seq: number): boolean {
  return queue.some((prompt) => prompt.state === "queued" && prompt.admittedSeq > seq);
}

/**
 * Meant to be down, and recorded as down with nothing left to write: no observation can change it. A planned worktree is
 * not inactive, because the commands that create it may have outlived the daemon that started them.
 */
export function isInactive({ intent, run, turn, queue, workspace }: SessionState): boolean {
  if (isLive(run) || turn.turn === "open" || queue.some((prompt) => prompt.state === "sending")) return false;
  if (workspace.at === "planned") return false;
  return intent.want === "stopped" || intent.want === "archived" || isCleared({ intent, run, workspace });
}

/** Killed or deleted, with no process running and no worktree in place. */
export function isCleared({ intent, run, workspace }: Pick<SessionState, "intent" | "run" | "workspace">): boolean {
  const over = intent.want === "killed" || intent.want === "deleted";
  return over && !isLive(run) && workspace.at !== "ready" && workspace.at !== "planned";
}
