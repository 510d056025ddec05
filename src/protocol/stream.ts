/** Frames from the daemon to a follower: the same over WebSocket and as server-sent events. */
import type { EventJson, SessionJson } from "./wire.ts";

export type Frame =
  /** First frame. `cursor` is where the follower now stands. */
  | { frame: "hello"; version: string; build: string; cursor: number }
  /** Everything as it is: at connect without a cursor, or when the cursor asked for is unknown to this daemon. */
  | { frame: "snapshot"; cursor: number; sessions: SessionJson[] }
  /** What came since, at most one frame a tick: the events, and the sessions they changed. */
  | { frame: "events"; cursor: number; events: (EventJson & { session: string })[]; sessions: SessionJson[] };
