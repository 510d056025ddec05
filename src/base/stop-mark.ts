/**
 * A file in a launch's directory: our own stop is signaling its agent. An agent exits after SIGTERM as if its user had
 * left it; this mark distinguishes the two after a stop that was interrupted or taken back.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const mark = "ending";

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
