/** The dev containers of contained sessions, as the daemon sees them. */
import type { SessionId } from "../contract/ids.ts";

export interface SessionContainers {
  /** Ends a launch that is under way, if there is one. */
  giveUp(session: SessionId): void;
  /** Ends everything that runs in a session's container. Returns what is left, or may be. */
  stop(session: SessionId, force: boolean): Promise<{ pid: number; what: string }[]>;
  /** Stops containers of sessions that do not run, and removes those of sessions that no longer exist. */
  reconcile(state: (session: SessionId) => "running" | "down" | "deleted"): Promise<void>;
  /** Removes a deleted session's container. Rejects where the engine does not answer: it is tried again. */
  remove(session: SessionId): Promise<void>;
}
