/**
 * The connection to a session's screen. Reconnects automatically, with backoff; each attach repaints the complete screen.
 * Input is sent only while the daemon reports `attached`, and dropped otherwise: typing must never reach anything but
 * the visible screen.
 */
import { operations } from "../../contract/operations.ts";
import { streamProtocol } from "../../contract/stream.ts";
import { pathOf } from "../../client/client.ts";
import type { TerminalFrame, TerminalRequest } from "../../contract/terminal.ts";

/** The used part of a browser's WebSocket. */
export interface TerminalSocket {
  binaryType: string;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close" | "error", listener: () => void): void;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

export type LineState =
  | { is: "connecting" }
  /** `forced`: the daemon does not allow typing. */
  | { is: "attached"; readonly: boolean; forced: boolean }
  /** The daemon detached, with a reason; reconnected in case the session still runs. */
  | { is: "detached"; reason: string }
  | { is: "waiting"; attempt: number };

export interface TerminalOptions {
  /** `ws://host:port`. */
  origin: string;
  session: string;
  /** The subprotocol that authenticates this browser, for the path with its query. Called for each connection. */
  prove?: (path: string) => Promise<string | null>;
  socket: new (url: string, protocols: string[]) => TerminalSocket;
  size: () => { cols: number; rows: number };
  readonly: boolean;
  onBytes: (bytes: Uint8Array) => void;
  /** Called before the first byte of a new screen. */
  onAttached: () => void;
  onState: (state: LineState) => void;
  random?: () => number;
}

export interface TerminalLine {
  /** False if it was dropped. */
  type(bytes: Uint8Array<ArrayBuffer>): boolean;
  resize(): void;
  setReadonly(on: boolean): void;
  /** Reconnects now instead of waiting. */
  wake(): void;
  close(): void;
}

const firstDelayMs = 300;
const longestDelayMs = 10_000;
/** A starting session attaches late, an ended one never. Retried at this pace. */
const detachedDelayMs = 2_000;
/** A connection that has not attached by then is dropped. */
const attachMs = 15_000;

export function connectTerminal(options: TerminalOptions): TerminalLine {
  const random = options.random ?? Math.random;
  let { readonly } = options;
  let forced = false;
  let socket: TerminalSocket | null = null;
  let attached = false;
  let attempt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let detached: string | null = null;
  /** Identifies the connection whose proof is being created. */
  let proving: object | null = null;

  const after = (delayMs: number, act: () => void): void => {
    clearTimeout(timer);
    timer = setTimeout(act, delayMs);
  };

  const connect = (): void => {
    clearTimeout(timer);
    detached = null;
    options.onState({ is: "connecting" });
    const { cols, rows } = options.size();
    const query = { cols, rows, ...(readonly ? { readonly: 1 } : {}) };
    const path = pathOf(operations.terminal, { id: options.session }, query);
    if (options.prove === undefined) return open(path, null);
    const own = (proving = {});
    const current = (act: () => void): void => {
      if (proving === own && !closed) act();
    };
    after(attachMs, () => current(lost));
    options.prove(path).then(
      (proof) => current(() => open(path, proof)),
      () => current(lost),
    );
  };

  const open = (path: string, proof: string | null): void => {
    proving = null;
    const protocols = proof === null ? [streamProtocol] : [streamProtocol, proof];
    const opened = new options.socket(`${options.origin}${path}`, protocols);
    opened.binaryType = "arraybuffer";
    socket = opened;
    after(attachMs, lost);
    // A dropped socket may still send messages: only the current one counts.
    opened.addEventListener("message", ({ data }) => {
      if (socket === opened) apply(data);
    });
    const end = (): void => {
      if (socket === opened) lost();
    };
    opened.addEventListener("close", end);
    opened.addEventListener("error", end);
  };

  const apply = (data: unknown): void => {
    if (typeof data !== "string") {
      if (attached) options.onBytes(new Uint8Array(data as ArrayBuffer));
      return;
    }
    const frame = JSON.parse(data) as TerminalFrame;
    if (frame.type === "attached") {
      clearTimeout(timer);
      attempt = 0;
      detached = null;
      attached = true;
      forced = frame.readonly && !readonly;
      options.onAttached();
      reportAttached();
    } else {
      attached = false;
      detached = frame.reason;
      options.onState({ is: "detached", reason: frame.reason });
    }
  };

  const reportAttached = (): void => options.onState({ is: "attached", readonly: readonly || forced, forced });

  const lost = (): void => {
    drop();
    if (closed) return;
    attempt++;
    const ceiling =
      detached === null ? Math.min(firstDelayMs * 2 ** (attempt - 1), longestDelayMs) : detachedDelayMs * attempt;
    // The reason stays on screen while it reconnects.
    if (detached === null) options.onState({ is: "waiting", attempt });
    after(Math.min(ceiling, longestDelayMs) * (0.5 + random() / 2), connect);
  };

  const drop = (): void => {
    clearTimeout(timer);
    proving = null;
    attached = false;
    const old = socket;
    socket = null;
    old?.close();
  };

  const sendRequest = (request: TerminalRequest): void => {
    if (attached) socket?.send(JSON.stringify(request));
  };

  connect();
  return {
    type: (bytes) => {
      if (!attached || readonly || forced || socket === null) return false;
      socket.send(bytes);
      return true;
    },
    resize: () => sendRequest({ type: "resize", ...options.size() }),
    setReadonly: (on) => {
      readonly = on;
      sendRequest({ type: "readonly", on });
      if (attached) reportAttached();
    },
    wake: () => {
      if (!closed && socket === null && proving === null) connect();
    },
    close: () => {
      closed = true;
      drop();
    },
  };
}
