/** Frames from the daemon to a follower: the same over WebSocket and as server-sent events. */
import type { Right } from "./rights.ts";
import type { DeviceJson, EventJson, SessionJson } from "./wire.ts";

/** The device that follows, as the daemon knows it: its rights may have changed since it logged in. */
export type FollowingDevice = { id: string; name: string; rights: Right };

export type Frame =
  /** First frame. `cursor` is where the follower now stands. */
  | { frame: "hello"; version: string; build: string; cursor: number; device?: FollowingDevice }
  /** Everything as it is: at connect without a cursor, or when the cursor asked for is unknown to this daemon. */
  | { frame: "snapshot"; cursor: number; sessions: SessionJson[] }
  /** What came since, at most one frame a tick: the events, and the sessions they changed. */
  | { frame: "events"; cursor: number; events: (EventJson & { session: string })[]; sessions: SessionJson[] }
  /** The list of devices changed; `added` is a new one, told to all others. */
  | { frame: "devices"; cursor: number; added: DeviceJson | null };
