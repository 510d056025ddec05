/**
 * What follows from an agent's program: npm removes and replaces it file by file, and a daemon may be started from a shell
 * that does not have it. A program that is missing is neither another build nor a crash of the agent.
 */
import type { ExitStatus } from "./session.ts";

/** What would be launched now, as far as that can be read. */
export interface SeenBuild {
  /** Null: a file of it is missing or cannot be read. */
  build: string | null;
  /** Since when it has been seen like this. */
  since: number;
}

/** For so long a new program has to be the same before a living agent is ended for it. */
export const settledBuildMs = 5_000;

/** Whether a living agent is of another build than would be launched now. */
export function isStaleBuild(recorded: string, seen: SeenBuild, now: number): boolean {
  return seen.build !== null && seen.build !== recorded && now - seen.since >= settledBuildMs;
}

/** What sh gives where it could not become the agent: not found; not executable, or still being written. */
export function couldNotStart(exit: ExitStatus | null): boolean {
  return exit !== null && exit.signal === null && (exit.code === 127 || exit.code === 126);
}

const firstRetryMs = 1_000;
/** Looking for a file costs nothing; a launch that fails leaves events each time. */
const longestLookMs = 30_000;
const longestRetryMs = 5 * 60_000;

/** How long to wait before the next look for a program that has been missing for so long. */
export function nextLookMs(missingForMs: number): number {
  return Math.min(Math.max(missingForMs, firstRetryMs), longestLookMs);
}

/** How long after a launch that could not start its program the next one comes. */
export function nextRetryMs(attempt: number): number {
  return Math.min(firstRetryMs * 2 ** Math.min(attempt - 1, 20), longestRetryMs);
}

const retryForMs = 60 * 60_000;

/** Whether the launches that could not start their program have taken an hour: npm is done by then. */
export function isLastRetry(attempt: number): boolean {
  let waited = 0;
  for (let one = 1; one <= attempt && waited <= retryForMs; one++) waited += nextRetryMs(one);
  return waited > retryForMs;
}
