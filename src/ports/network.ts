/** The network of contained sessions that have an allow list, as the daemon sees it. */
import type { SessionId } from "../contract/ids.ts";

export interface BlockedHost {
  host: string;
  port: number;
  /** `private`: all of its addresses are, and the allow list does not name host and port. */
  why: "not-listed" | "private" | "too-many-connections";
}

export interface ContainedNetwork {
  /** Starts the proxy unless it is running. */
  ensure(): Promise<void>;
  /** Blocked hosts not yet reported, and whether the list is full. Call `reported` once they are recorded. */
  news(session: SessionId): { blocked: BlockedHost[]; full: boolean; reported: () => void };
  /** Removes a deleted session's files. */
  remove(session: SessionId): void;
  /** The daemon stops. With `idle`, no contained session is running: the proxy has exited when this returns. */
  close(options: { idle: boolean }): Promise<void>;
}
