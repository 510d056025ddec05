/** What all files of this folder share. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../ports/api.ts";
import type { PreflightCache } from "./create/start.ts";
import type { Serial } from "../base/async.ts";

/** Long enough to notice a loss after a vacation. */
export const trashDays = 14;

export interface Context {
  worktrees: string;
  trash: string;
  now: () => number;
  log: Pick<Logger, "info" | "warn">;
  serial: Serial;
  /** Spare worktrees being prepared or claimed right now. */
  busySpares: Set<string>;
  preflights: PreflightCache;
  /** Trash entries being created right now. */
  busyEntries: Set<string>;
  /** Problems found in worktrees' git directories since the daemon started, by directory. */
  findings: Map<string, string>;
  /** The repository of the session at this worktree path; null if missing. */
  repositoryOf: (path: string) => string | null;
}

/** Runs work with a temporary directory on the worktrees' file system, outside all of them. */
export async function inScratch<T>(
  { worktrees }: Pick<Context, "worktrees">,
  name: string,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = join(worktrees, ".scratch", `${name}-${randomBytes(6).toString("hex")}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
