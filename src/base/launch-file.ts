/**
 * The options of the last start that worked. A starter writes the new ones first and keeps the old ones beside them until
 * the daemon is ready: options that cannot work would otherwise be replayed by every later command, whoever crashed.
 */
import { readFileSync, renameSync, rmSync } from "node:fs";
import { writeDurable } from "./durable-file.ts";

export const launchBefore = (launchFile: string): string => `${launchFile}.before`;

/** What a starter does first. The old options of a start whose end nobody saw are older than its new ones: they stay. */
export function proposeLaunch(launchFile: string, text: string): void {
  const before = launchBefore(launchFile);
  if (readOrNull(before) === null) writeDurable(before, readOrNull(launchFile) ?? nothing, 0o600);
  writeDurable(launchFile, text, 0o600);
}

/** The daemon is ready: its options are the ones to replay. */
export function keepLaunch(launchFile: string): void {
  rmSync(launchBefore(launchFile), { force: true });
}

/** The daemon failed with these options, or nobody knows: those before it count again. */
export function takeBackLaunch(launchFile: string): void {
  const before = readOrNull(launchBefore(launchFile));
  if (before === null) return;
  if (before !== nothing) {
    renameSync(launchBefore(launchFile), launchFile);
    return;
  }
  rmSync(launchFile, { force: true });
  rmSync(launchBefore(launchFile), { force: true });
}

/** There was no start before. */
const nothing = "";

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
