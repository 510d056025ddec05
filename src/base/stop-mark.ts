/**
 * A file in a launch's directory: our own stop is signaling its agent. An agent exits after SIGTERM as if its user had
 * left it; this mark distinguishes the two after a stop that was interrupted or taken back.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endTree, type EndOptions, type TreeTarget } from "./process-tree.ts";
import { reach } from "./test-points.ts";

const mark = "ending";
/** Agents exit within 50 ms of SIGTERM; a busy one gets this long. */
const politeMs = 4_000;
/** Even a forced stop starts gracefully: agents write their transcripts some 100 ms late. */
const leastMs = 500;

/** Stops a complete tree in stages; returns what is still alive. */
export async function stopTree(
  target: TreeTarget,
  options: { force: boolean; deadlineMs: number; until: number } & Pick<EndOptions, "helpers">,
): Promise<{ pid: number; what: string }[]> {
  const polite = options.force ? leastMs : Math.min(politeMs, options.deadlineMs / 2);
  const forceMs = Math.max(options.until - performance.now() - polite, leastMs);
  const left = await endTree(target, { ...options, politeMs: polite, forceMs });
  await reach("stop.signalled");
  return left.map(({ identity, what }) => ({ pid: identity.pid, what }));
}

/** Written before the first signal. */
export function markStopping(directory: string): void {
  try {
    writeFileSync(join(directory, mark), "", { mode: 0o600 });
  } catch {
    // A full or failing disk must not prevent the stop.
  }
}

export function isStopping(directory: string): boolean {
  return existsSync(join(directory, mark));
}

/** The agent accepted a prompt: the stop was interrupted before its first signal. */
export function clearStopping(directory: string): void {
  rmSync(join(directory, mark), { force: true });
}
