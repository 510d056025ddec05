/**
 * Follows the daemon's log over a WebSocket for as long as it is wanted: resumes behind the last cursor, reconnects
 * with back-off, and notices a line that died in silence. The WebSocket constructor is given, so that browsers, Node
 * and `ws` all do.
 */
import { streamProtocol } from "../contract/stream.ts";
import type { Frame } from "../contract/stream.ts";

/** What browsers' WebSocket, Node's and `ws` have in common. */
export interface SocketLike {
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close" | "error", listener: () => void): void;
  send(text: string): void;
  close(): void;
}

export type SocketConstructor = new (url: string, protocols: string[]) => SocketLike;

export type FollowState =
  | { state: "connecting"; attempt: number }
  | { state: "open" }
  | { state: "waiting"; attempt: number; delayMs: number }
  | { state: "closed" };

export interface FollowOptions {
  /** `ws://host:port` of the daemon. */
  url: string;
  socket: SocketConstructor;
  /** The subprotocol that lets this client in, for the path with its query. Asked for each connection. */
  prove?: (path: string) => Promise<string | null>;
  session?: string;
  /** Where to continue; without it the first frame after `hello` is a snapshot. */
  after?: number;
  onFrame: (frame: Frame) => void;
  onState?: (state: FollowState) => void;
  /** In [0, 1): spreads many clients that lost one daemon. */
  random?: () => number;
  timing?: Partial<Timing>;
}

export interface Timing {
  firstDelayMs: number;
  longestDelayMs: number;
  /** A connection without `hello` by then is closed. */
  helloMs: number;
  /** How often a silent line is asked for a sign of life, and how long it gets to answer. */
  pingMs: number;
  pongMs: number;
}

export const defaultTiming: Timing = {
  firstDelayMs: 250,
  longestDelayMs: 10_000,
  helloMs: 10_000,
  pingMs: 30_000,
  pongMs: 10_000,
};

export interface Following {
  /** The last cursor that was handed on. */
  cursor(): number | null;
  /** Tries now instead of waiting on: the network is back, the tab is visible again. */
  wake(): void;
  close(): void;
}

export function follow(options: FollowOptions): Following {
  const timing: Timing = { ...defaultTiming, ...options.timing };
  const random = options.random ?? Math.random;
  let cursor: number | null = options.after ?? null;
  let socket: SocketLike | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  let closed = false;

  const report = (state: FollowState): void => options.onState?.(state);
  const after = (delayMs: number, act: () => void): void => {
    clearTimeout(timer);
    timer = setTimeout(act, delayMs);
  };

  /** While the proof of a connection is being made, this is its own. */
  let proving: object | null = null;

  const connect = (): void => {
    clearTimeout(timer);
    report({ state: "connecting", attempt });
    const path = pathOf(options, cursor);
    const { prove } = options;
    if (prove === undefined) return open(path, null);
    const own = (proving = {});
    const current = (act: () => void): void => {
      if (proving === own && !closed) act();
    };
    // Without a daemon, not even the challenge arrives.
    after(timing.helloMs, () => current(lost));
    prove(path).then(
      (proof) => current(() => open(path, proof)),
      () => current(lost),
    );
  };

  const open = (path: string, proof: string | null): void => {
    proving = null;
    const protocols = proof === null ? [streamProtocol] : [streamProtocol, proof];
    const opened = new options.socket(`${options.url}${path}`, protocols);
    socket = opened;
    // A socket that was given up may still speak: only the current one is listened to.
    const current = (act: () => void) => (): void => {
      if (socket === opened) act();
    };
    after(timing.helloMs, current(lost));
    opened.addEventListener("message", (event) => current(() => take(String(event.data)))());
    opened.addEventListener("close", current(lost));
    opened.addEventListener("error", current(lost));
  };

  const take = (text: string): void => {
    const frame = JSON.parse(text) as Frame;
    attempt = 0;
    after(timing.pingMs, askForLife);
    if (frame.frame === "hello") report({ state: "open" });
    // Not from `hello`: a client that is cut off after it has not seen the frames it announces.
    else if (frame.frame !== "devices") cursor = frame.cursor;
    options.onFrame(frame);
  };

  const askForLife = (): void => {
    after(timing.pongMs, lost);
    socket?.send("ping");
  };

  const lost = (): void => {
    abandon();
    if (closed) return;
    const ceiling = Math.min(timing.firstDelayMs * 2 ** attempt, timing.longestDelayMs);
    const delayMs = Math.round(ceiling * (0.5 + random() / 2));
    attempt++;
    report({ state: "waiting", attempt, delayMs });
    after(delayMs, connect);
  };

  const abandon = (): void => {
    clearTimeout(timer);
    proving = null;
    const old = socket;
    socket = null;
    // `ws` throws from close() before it is open unless errors are listened to; the listeners stay, and are deaf.
    old?.close();
  };

  connect();
  return {
    cursor: () => cursor,
    wake: () => {
      if (!closed && socket === null && proving === null) connect();
    },
    close: () => {
      if (closed) return;
      closed = true;
      abandon();
      report({ state: "closed" });
    },
  };
}

function pathOf(options: FollowOptions, cursor: number | null): string {
  const query = [
    ...(cursor === null ? [] : [`after=${cursor}`]),
    ...(options.session === undefined ? [] : [`session=${encodeURIComponent(options.session)}`]),
  ];
  return `/api/stream${query.length === 0 ? "" : `?${query.join("&")}`}`;
}
