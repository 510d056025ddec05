/** What all parts of the room share. */
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
