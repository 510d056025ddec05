/**
 * Followers of the log. A commit only marks them as behind; once per tick each one that is behind re-reads from its own
 * cursor and gets one message. Followers at the same cursor share the read and the bytes. One that does not accept its
 * bytes is skipped and catches up later from the log.
 */
import type { EventsText, Logger, Tail } from "../ports/api.ts";
import type { FollowingDevice, Frame } from "../contract/stream.ts";
import type { DeviceJson } from "../contract/device.ts";
import type { Bearer } from "./access.ts";
import type { ServerResponse } from "node:http";
import type { WebSocket } from "ws";
import { securityHeaders } from "./response.ts";

/** Beats without a sign of life before a WebSocket is closed; its client resumes by cursor, so nothing is lost. */
const maxSilentBeats = 3;

/** Close codes of RFC 6455: going away, policy violation, internal error. */
const closeCodes = { over: 1001, refused: 1008, broken: 1011 } as const;

export function webSocketSink(socket: WebSocket): Sink {
  let pongs = 1;
  let silentBeats = 0;
  let unsentAtLastBeat = 0;
  socket.on("pong", () => pongs++);
  return {
    send: (encoded, sent) => socket.send(encoded.json, { binary: false }, () => sent()),
    bufferedBytes: () => socket.bufferedAmount,
    beat: () => {
      // A slow line answers a ping only after what is queued before it: taking bytes is a sign of life as well.
      const alive = pongs > 0 || socket.bufferedAmount < unsentAtLastBeat;
      silentBeats = alive ? 0 : silentBeats + 1;
      pongs = 0;
      unsentAtLastBeat = socket.bufferedAmount;
      socket.ping();
      return silentBeats < maxSilentBeats;
    },
    close: (why) => socket.close(closeCodes[why]),
    terminate: () => socket.terminate(),
  };
}

export function eventStreamSink(response: ServerResponse): Sink {
  response.writeHead(200, {
    ...securityHeaders,
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    Connection: "close",
  });
  return {
    send: (encoded, sent) => response.write(encoded.sse, () => sent()),
    bufferedBytes: () => response.writableLength,
    beat: () => {
      // A comment; not more of them on top of what is not taken.
      if (response.writableLength === 0) response.write(":\n\n");
      return true;
    },
    close: () => response.end(),
    terminate: () => response.destroy(),
  };
}

/**
 * One message per follower in this time. The shortest delays an event by less than the disk does. If sending costs more,
 * because of many followers or long messages, the next tick comes later: a fifth of the time goes into it, and a busy
 * follower still gets 100 messages/s.
 */
const shortestTickMs = 2;
const longestTickMs = 10;
const flushesPerTick = 5;
/** Beyond this much unsent a follower is left to catch up by cursor. */
const maxBufferedBytes = 8 * 1024 * 1024;
/** Proxies and browsers drop silent connections after 30 to 60 s. */
export const defaultHeartbeatMs = 15_000;

/** A frame as bytes, in the two forms there are, made at most once each. */
export interface EncodedFrame {
  /** The follower's cursor after it. */
  cursor: number;
  json: Buffer;
  /** Server-sent event; `hello` has no id, so that one who loses the line behind it still gets what follows. */
  sse: Buffer;
}

export interface Sink {
  send(encoded: EncodedFrame, sent: () => void): void;
  bufferedBytes(): number;
  /** Keeps the connection open; returns whether the other end still responds. */
  beat(): boolean;
  /** `over`: this daemon goes; `refused`: it may no longer follow; `broken`: the log cannot be read. */
  close(why: "over" | "refused" | "broken"): void;
  /** Immediately, whatever is still unsent. */
  terminate(): void;
}

interface State {
  sink: Sink;
  bearer: Bearer | null;
  session: string | undefined;
  recheck: () => void;
  cursor: number;
  behind: boolean;
}

interface FollowRequest {
  after: number | null;
  session: string | undefined;
  bearer: Bearer | null;
  recheck?: () => void;
}

export type Followers = ReturnType<typeof createFollowers>;

export interface FollowersOptions {
  log: Logger;
  heartbeatMs?: number | undefined;
  /** The device as it is known now, for those that follow as one. */
  deviceOf: (bearer: Bearer | null) => FollowingDevice | null;
}

export function createFollowers(tail: Tail, options: FollowersOptions) {
  const { log, deviceOf, heartbeatMs = defaultHeartbeatMs } = options;
  const all = new Set<State>();
  let nextFlush = -Infinity;
  let scheduled = false;
  let closed = false;
  let stopTail: (() => void) | null = null;
  let heart: NodeJS.Timeout | null = null;

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    const waitMs = nextFlush - performance.now();
    if (waitMs <= 0) setImmediate(flush);
    else setTimeout(flush, waitMs);
  };

  const flush = (): void => {
    scheduled = false;
    const begun = performance.now();
    // Timers count milliseconds of a clock that does not advance within a turn: they fire up to a millisecond early.
    if (begun < nextFlush) return schedule();
    const shared = new Map<string, EncodedFrame | null>();
    for (const follower of all) {
      if (!follower.behind || follower.sink.bufferedBytes() > maxBufferedBytes) continue;
      if (!mayFollow(follower)) {
        remove(follower);
        follower.sink.close("refused");
        continue;
      }
      try {
        catchUp(follower, shared);
      } catch (error) {
        log.error("cannot send to a follower", { cause: String(error) });
        remove(follower);
        follower.sink.close("broken");
      }
    }
    const tookMs = performance.now() - begun;
    nextFlush = begun + Math.min(longestTickMs, Math.max(shortestTickMs, tookMs * flushesPerTick));
    if ([...all].some((each) => each.behind && each.sink.bufferedBytes() <= maxBufferedBytes)) schedule();
  };

  const catchUp = (follower: State, shared: Map<string, EncodedFrame | null>): void => {
    const key = `${follower.cursor} ${follower.session ?? ""}`;
    let encoded = shared.get(key);
    if (encoded === undefined) {
      encoded = readFrame(tail, follower.cursor, follower.session);
      shared.set(key, encoded);
    }
    // The log may return a part only: a follower that moved reads again next tick.
    follower.behind = encoded !== null && encoded.cursor !== follower.cursor;
    if (encoded !== null) send(follower, encoded);
  };

  const send = (follower: State, encoded: EncodedFrame): void => {
    follower.cursor = encoded.cursor;
    follower.sink.send(encoded, () => {
      if (follower.behind && all.has(follower) && follower.sink.bufferedBytes() <= maxBufferedBytes) schedule();
    });
  };

  const remove = (follower: State): void => {
    all.delete(follower);
    if (all.size > 0) return;
    stopTail?.();
    stopTail = null;
    if (heart !== null) clearInterval(heart);
    heart = null;
  };

  const beat = (): void => {
    for (const follower of all) {
      if (follower.sink.beat()) continue;
      remove(follower);
      follower.sink.terminate();
    }
  };

  return {
    /** `recheck` throws once the caller may no longer follow. */
    add: (sink: Sink, { after, session, bearer, recheck = () => undefined }: FollowRequest) => {
      if (closed) {
        sink.terminate();
        return { hello: () => undefined, remove: () => undefined };
      }
      stopTail ??= tail.onChange(() => {
        for (const follower of all) follower.behind = true;
        schedule();
      });
      heart ??= setInterval(beat, heartbeatMs).unref();
      const { cursor, first } = startOf(tail, after, session);
      const follower: State = { sink, bearer, session, recheck, cursor, behind: first !== null };
      const hello = (): void => {
        const device = deviceOf(bearer);
        const frame = { ...tail.hello(), cursor: follower.cursor, ...(device === null ? {} : { device }) };
        sink.send(encodeFrame(frame), () => undefined);
      };
      all.add(follower);
      hello();
      if (first !== null) {
        send(follower, first);
        schedule();
      }
      return { hello, remove: () => remove(follower) };
    },
    /** Closes those whose bearer this picks. */
    drop: (picks: (bearer: Bearer | null) => boolean): void => {
      for (const follower of all) {
        if (!picks(follower.bearer)) continue;
        remove(follower);
        follower.sink.close("refused");
      }
    },
    /** Reports that the devices changed, and a new one to all others. */
    reportDevices: (added: DeviceJson | null): void => {
      for (const { sink, bearer, cursor } of all) {
        const isItself = bearer?.bearer === "device" && bearer.id === added?.id;
        const news = isItself ? null : added;
        sink.send(encodeFrame({ frame: "devices", cursor, added: news }), () => undefined);
      }
    },
    get size(): number {
      return all.size;
    },
    close: (): void => {
      closed = true;
      for (const follower of all) follower.sink.close("over");
    },
    terminate: (): void => {
      for (const follower of all) {
        remove(follower);
        follower.sink.terminate();
      }
    },
  };
}

function mayFollow({ recheck }: State): boolean {
  try {
    recheck();
    return true;
  } catch {
    return false;
  }
}

/** Without a cursor, or with one this log never had, a follower starts with everything as it is. */
function startOf(
  tail: Tail,
  after: number | null,
  session: string | undefined,
): { cursor: number; first: EncodedFrame | null } {
  const behind = after === null ? "unknown" : tail.read(after, session);
  if (after !== null && behind !== "unknown") return { cursor: after, first: behind === null ? null : encode(behind) };
  const snapshot = encodeFrame(tail.snapshot(session));
  return { cursor: snapshot.cursor, first: snapshot };
}

function readFrame(tail: Tail, cursor: number, session: string | undefined): EncodedFrame | null {
  const read = tail.read(cursor, session);
  if (read === null) return null;
  return read === "unknown" ? encodeFrame(tail.snapshot(session)) : encode(read);
}

function encodeFrame(frame: Frame): EncodedFrame {
  const moves = frame.frame !== "hello" && frame.frame !== "devices";
  return encode({ cursor: frame.cursor, json: JSON.stringify(frame) }, moves);
}

function encode({ cursor, json: text }: EventsText, hasId = true): EncodedFrame {
  const json = Buffer.from(text);
  let sse: Buffer | undefined;
  return {
    cursor,
    json,
    get sse() {
      const id = hasId ? `id: ${cursor}\n` : "";
      sse ??= Buffer.concat([Buffer.from(`${id}data: `), json, Buffer.from("\n\n")]);
      return sse;
    },
  };
}
