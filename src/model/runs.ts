/** What the record of the latest launch means by itself: how it ended, whether it may be started again, why not. */
import type { EndedHow, ExitStatus, Run, SessionState } from "./session.ts";
import { isLastRetry } from "./programs.ts";

/** Three crashes within a minute are a loop, not bad luck: then nothing is started again until the person asks. */
export const crashBudget = 3;
export const crashWindowMs = 60_000;

export type LiveRun = Extract<Run, { run: "launching" | "up" }>;

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

/** In a terminal Ctrl-C is a person's key; and the shell that a person leaves exits with what its last command returned. */
function isLeaving({ code, signal }: ExitStatus, role: SessionState["role"]): boolean {
  return signal === "SIGINT" || (signal === null && (code === interruptedCode || role === "shell"));
}

/**
 * Crashes in a row, each within the window of the latest. Measured from the latest crash and not from now: otherwise a
 * session that used up its budget would start again by itself a minute later.
 */
export function recentCrashes({ crashes }: Pick<SessionState, "crashes">): number {
  const latest = crashes.at(-1);
  if (latest === undefined) return 0;
  // One that is dated after the latest was written before the clock went back: how long ago it was is not known.
  return crashes.filter((at) => at <= latest && latest - at < crashWindowMs).length;
}

/** Why a session that is wanted running stays down by itself. */
export type DownReason = "exited" | "failed" | "crashing" | "lost";

/** Null when nothing in the record stands against a launch (or when there is a live run, which needs none). */
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
      // A waiting prompt does not lift it: the loop of crashes would go on with each of them.
      return askedSince(session, run.seq) || recentCrashes(session) < crashBudget ? null : "crashing";
    case "stopped":
      return null;
    default:
      how satisfies never;
      return null;
  }
}

/** Whether the next launch is the loop's own doing: nobody asked for it since the last one ended, so nobody waits for it. */
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
 * Wanted down, and down by its own record with nothing left to write: no look at it could lead to anything. What makes
 * its worktree may have outlived the daemon that began it.
 */
export function isInactive({ intent, run, turn, queue, workspace }: SessionState): boolean {
  if (isLive(run) || turn.turn === "open" || queue.some((prompt) => prompt.state === "sending")) return false;
  if (workspace.at === "planned") return false;
  return intent.want === "stopped" || intent.want === "archived" || isCleared({ intent, run, workspace });
}

/** Ended for good by the person, and nothing of it runs or is left at its place. */
export function isCleared({ intent, run, workspace }: Pick<SessionState, "intent" | "run" | "workspace">): boolean {
  const over = intent.want === "killed" || intent.want === "deleted";
  return over && !isLive(run) && workspace.at !== "ready" && workspace.at !== "planned";
}
