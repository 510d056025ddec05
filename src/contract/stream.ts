/** Reading and following events: pages of them, the transcript, and frames over WebSocket and as server-sent events. */
import type { DeviceJson } from "./device.ts";
import type { FactEvent, IntentBody } from "./event.ts";
import { documents, get, list, readers, type Operations, type Who } from "./operation.ts";
import type { Right } from "./rights.ts";
import { sessionJson, type SessionJson } from "./session.ts";
import type { TranscriptPage } from "./transcript.ts";

/** The WebSocket subprotocol, and the one that carries the main token for clients that cannot send a header there. */
export const streamProtocol = "holdfast.v1";
export const tokenProtocolPrefix = "holdfast.token.";

/** An event as it is sent. A newer daemon may send types that this build does not know: readers must skip those. */
export type EventJson = (FactEvent | IntentBody) & { seq: number; at: string };

const eventJson = documents<EventJson>("eventJson", (z) =>
  z.looseObject({ seq: z.number(), at: z.iso.datetime(), type: z.string() }),
);

/** The calling device as the daemon knows it: its rights may have changed since it logged in. */
export type FollowingDevice = { id: string; name: string; rights: Right };

export type Frame =
  /** First frame. `cursor` is the follower's position. */
  | { frame: "hello"; version: string; build: string; cursor: number; device?: FollowingDevice }
  /** The current state of everything: at connect without a cursor, or if this daemon does not know the cursor. */
  | { frame: "snapshot"; cursor: number; sessions: SessionJson[] }
  /** News, at most one frame per tick: the events, and the sessions they changed. */
  | { frame: "events"; cursor: number; events: (EventJson & { session: string })[]; sessions: SessionJson[] }
  /** The list of devices changed; `added` is a new one, sent to all others. */
  | { frame: "devices"; cursor: number; added: DeviceJson | null };

const frame = documents<Frame>("frame", (z) => {
  const cursor = z.number();
  const sessions = list(sessionJson)(z);
  const event = z.intersection(eventJson(z), z.object({ session: z.string() }));
  return z.union([
    z.object({ frame: z.literal("hello"), cursor, version: z.string(), build: z.string() }),
    z.object({ frame: z.literal("snapshot"), cursor, sessions }),
    z.object({ frame: z.literal("events"), cursor, events: z.array(event), sessions }),
  ]);
});

/** Times in milliseconds since 1970. Apply later events with the reducer of model/transcript.ts. */
const transcriptJson = documents<TranscriptPage>("transcriptJson", (z) => {
  const items = z.array(z.looseObject({ item: z.string(), key: z.string(), seq: z.number(), at: z.number() }));
  return z.object({
    /** The last event that it includes. */
    seq: z.number(),
    items,
    /** Whether there are items before these. */
    older: z.boolean(),
    /** Earlier items that later events may still change. */
    pinned: items,
    queue: z.array(z.looseObject({ promptId: z.string(), state: z.string() })),
    plan: z.nullable(z.array(z.unknown())),
    modes: z.unknown(),
    models: z.unknown(),
    configOptions: z.unknown(),
    commands: z.nullable(z.array(z.unknown())),
    usage: z.nullable(z.looseObject({})),
    turn: z.nullable(z.looseObject({ open: z.boolean() })),
    lastReset: z.nullable(z.object({ seq: z.number(), reason: z.string() })),
    primerUsed: z.boolean(),
    /** Which items later events may change, for the reducer that continues. */
    refs: z.looseObject({}),
  });
});

/** A page of events has at most this many characters, but at least one event; it may then have fewer than requested. */
export const eventPageChars = 16 * 1024 * 1024;

/** Whether nothing was left out. The limit counts a part of each event only, so a page that was cut is never smaller. */
export function isLastPage(events: readonly object[], limit: number): boolean {
  if (events.length === 0) return true;
  return events.length < limit && events.reduce((sum, event) => sum + JSON.stringify(event).length, 0) < eventPageChars;
}

const follower: Who = { device: "watch", agent: "follow" };
const position = { after: "resume after this cursor", session: "only this session" } as const;

export const streamOperations = {
  events: get("/api/sessions/{id}/events", "List a session's events", readers, list(eventJson), {
    since: "only events after this sequence number",
    before: "only events before this sequence number: the newest of them, in ascending order",
    limit: "at most this many",
  }),
  transcript: get("/api/sessions/{id}/transcript", "Get the newest transcript items", readers, transcriptJson, {
    tail: "at most this many items (200)",
    before: "only items before the one with this sequence number",
  }),
  stream: get("/api/stream", "WebSocket: a snapshot, then events", follower, frame, position),
  sse: get("/api/events", "Follow the same frames as server-sent events", follower, frame, position),
} as const satisfies Operations;
