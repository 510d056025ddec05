/**
 * A mark in a launch's directory: our own stop has begun to end its agent. An agent that SIGTERM ends exits like one that
 * its user leaves; a stop that was cut off, or that somebody takes back meanwhile, is told from that by this mark.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const mark = "ending";

/** Written before the first signal. */
export function markEnding(directory: string): void {
  try {
    writeFileSync(join(directory, mark), "", { mode: 0o600 });
  } catch {
    // A full or failing disk does not keep a stop from ending the agent.
  }
}

export function isEnding(directory: string): boolean {
  return existsSync(join(directory, mark));
}

/** It took a prompt after all: the stop was cut off before its first signal. */
export function forgetEnding(directory: string): void {
  rmSync(join(directory, mark), { force: true });
}
