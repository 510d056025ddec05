/** The network of contained sessions that have an allow list, as the daemon sees it. */
import type { SessionId } from "../contract/ids.ts";

export interface BlockedHost {
  host: string;
  port: number;
  why: "not-listed" | "private" | "too-many-connections";
}

export interface ContainedNetwork {
  /** Starts the proxy unless it runs. */
  ensure(): Promise<void>;
  /** Refusals that were not reported yet, and whether there are more than are kept. `reported` is called once they are on record. */
  news(session: SessionId): { blocked: BlockedHost[]; full: boolean; reported: () => void };
  /** Removes what is kept of a session that is deleted. */
  remove(session: SessionId): void;
  /** The daemon stops. With `idle`, no contained session runs: the proxy is gone when this returns. */
  close(options: { idle: boolean }): Promise<void>;
}
