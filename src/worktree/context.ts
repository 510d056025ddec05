/** What every part of the workspace shares. */
import type { Logger } from "../ports/api.ts";
import type { PreflightCache } from "./create/start.ts";
import type { Serial } from "../base/async.ts";

/** Long enough to notice after a holiday that something is missing. */
export const trashDays = 14;

export interface Context {
  worktrees: string;
  trash: string;
  now: () => number;
  log: Pick<Logger, "info" | "warn">;
  serial: Serial;
  /** Spare worktrees that are being prepared or claimed at this moment. */
  busySpares: Set<string>;
  preflights: PreflightCache;
  /** Trash entries that are being made at this moment. */
  busyEntries: Set<string>;
  /** What was found wrong with a worktree's directory of git since this daemon began, by that directory. */
  findings: Map<string, string>;
  /** The repository of the session whose worktree this is, as the daemon knows it; null when it has none at this path. */
  repositoryOf: (path: string) => string | null;
}
