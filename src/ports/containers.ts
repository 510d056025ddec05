/** The dev containers of contained sessions, as the daemon sees them. */
import type { SessionId } from "../contract/ids.ts";

export interface SessionContainers {
  /** Aborts a launch in progress, if any. */
  giveUp(session: SessionId): void;
  /** Stops everything in a session's container. Returns what keeps running, or may. */
  stop(session: SessionId, force: boolean): Promise<{ pid: number; what: string }[]>;
  /** Stops containers of sessions that do not run, and removes those of sessions that no longer exist. */
  reconcile(state: (session: SessionId) => "running" | "down" | "deleted"): Promise<void>;
  /** Removes a deleted session's container. Rejects if the engine does not respond; the caller retries. */
  remove(session: SessionId): Promise<void>;
}
