/**
 * Terminals on WebSockets: bytes of a screen one way, typed bytes the other. Bytes typed before the screen is open or after
 * it closed are dropped, never kept for later; so are those of a viewer that only watches.
 */
import type { WebSocket } from "ws";
import type { Logger, Terminals } from "../ports/api.ts";
import type { TerminalView } from "../ports/runtime.ts";
import { HoldfastError } from "../contract/errors.ts";
import { includes } from "../contract/rights.ts";
import type { TerminalFrame, TerminalRequest } from "../contract/terminal.ts";
import type { Bearer } from "./access.ts";
import { Refusal } from "./response.ts";
import { defaultHeartbeatMs } from "./followers.ts";

/** Each viewer is a process and a pseudo-terminal. */
const maxViewers = 64;
/** Unsent bytes at which the screen pauses and at which it resumes: tmux then skips what no viewer would see. */
const pauseBytes = 1024 * 1024;
const resumeBytes = 256 * 1024;
/** Beats without a sign of life before a viewer is given up. */
const maxSilentBeats = 3;
const smallest = 2;
const largest = 500;
/** Close codes of RFC 6455: normal, going away, not understood, policy violation. */
const closeCodes = { normal: 1000, over: 1001, invalid: 1007, refused: 1008 } as const;

export interface ViewerRequest {
  session: string;
  cols: number;
  rows: number;
  readonly: boolean;
  bearer: Bearer | null;
}

export interface TerminalOptions {
  /** No viewer may type. */
  readOnly: boolean;
  log: Logger;
  heartbeatMs?: number;
}

type Viewer = ReturnType<typeof serve>;
export type TerminalSockets = ReturnType<typeof createTerminalSockets>;

export function readViewerRequest(
  session: string,
  query: Record<string, string>,
  bearer: Bearer | null,
): ViewerRequest {
  const size = (name: string, fallback: number): number => {
    const value = query[name];
    if (value === undefined) return fallback;
    const number = /^\d{1,4}$/.test(value) ? Number(value) : 0;
    if (number >= smallest && number <= largest) return number;
    throw new Refusal("invalid", `\`${name}\` must be an integer from ${smallest} to ${largest}.`);
  };
  const flag = query["readonly"] ?? "0";
  if (!["0", "1", "true", "false"].includes(flag)) throw new Refusal("invalid", "`readonly` must be 1 or 0.");
  const readonly = flag === "1" || flag === "true";
  return { session, cols: size("cols", 80), rows: size("rows", 24), readonly, bearer };
}

export function createTerminalSockets(terminals: Terminals, options: TerminalOptions) {
  const heartbeatMs = options.heartbeatMs ?? defaultHeartbeatMs;
  const all = new Set<Viewer>();
  let heart: NodeJS.Timeout | null = null;
  let closed = false;

  const remove = (viewer: Viewer): void => {
    all.delete(viewer);
    if (all.size > 0 || heart === null) return;
    clearInterval(heart);
    heart = null;
  };

  return {
    add: (socket: WebSocket, asked: ViewerRequest): void => {
      const viewer: Viewer = serve(socket, terminals, asked, options, () => remove(viewer));
      if (closed) return viewer.terminate();
      if (all.size >= maxViewers)
        return viewer.leave(closeCodes.refused, `More than ${maxViewers} terminals are open.`);
      all.add(viewer);
      heart ??= setInterval(() => {
        for (const each of all) each.beat();
      }, heartbeatMs).unref();
    },
    /** Closes those whose bearer this picks. */
    drop: (picks: (bearer: Bearer | null) => boolean): void => {
      for (const viewer of all) {
        if (picks(viewer.bearer)) viewer.leave(closeCodes.refused, "This device's access was changed or ended.");
      }
    },
    close: (): void => {
      closed = true;
      for (const viewer of all) viewer.leave(closeCodes.over, "The daemon is stopping; the agent keeps running.");
    },
    terminate: (): void => {
      for (const viewer of all) viewer.terminate();
    },
  };
}

function serve(
  socket: WebSocket,
  terminals: Terminals,
  asked: ViewerRequest,
  { readOnly: daemonReadOnly, log }: TerminalOptions,
  left: () => void,
) {
  // Typing prompts the agent: a device that may only watch cannot.
  const readOnly =
    daemonReadOnly ||
    (asked.bearer?.bearer === "device" && !includes(asked.bearer.rights, terminals.typingNeeds(asked.session)));
  let view: TerminalView | null = null;
  let over = false;
  let paused = false;
  let silentBeats = 0;
  let unsentAtLastBeat = 0;
  let { cols, rows, readonly } = asked;
  readonly ||= readOnly;

  const send = (frame: TerminalFrame): void => socket.send(JSON.stringify(frame), () => undefined);
  const release = (): void => {
    over = true;
    view?.close();
    view = null;
    left();
  };
  const leave = (code: number, reason: string): void => {
    if (over) return;
    send({ type: "detached", reason });
    release();
    socket.close(code);
  };

  const show = (bytes: Buffer): void => {
    if (over) return;
    socket.send(bytes, { binary: true }, () => {
      if (!paused || socket.bufferedAmount > resumeBytes) return;
      paused = false;
      view?.resume();
    });
    if (paused || socket.bufferedAmount <= pauseBytes) return;
    paused = true;
    view?.pause();
  };

  const obey = (request: TerminalRequest): void => {
    if (request.type === "readonly") {
      const on = request.on || readOnly;
      if (on !== readonly) view?.watchOnly(on);
      readonly = on;
    } else {
      ({ cols, rows } = request);
      view?.resize(cols, rows);
    }
  };

  socket.on("message", (data: Buffer, isBinary: boolean) => {
    silentBeats = 0;
    if (over) return;
    if (isBinary) {
      if (view !== null && !readonly) view.write(data);
      return;
    }
    const request = readRequest(data.toString());
    if (request === null) leave(closeCodes.invalid, "Unknown terminal message.");
    else obey(request);
  });
  socket.on("pong", () => (silentBeats = 0));
  socket.on("error", () => socket.terminate());
  socket.on("close", () => {
    if (!over) release();
  });

  const begin = async (): Promise<void> => {
    const size = { cols, rows };
    const before = readonly;
    const opened = await terminals.open(asked.session, { ...size, readonly });
    if (over) return opened.close();
    view = opened;
    send({ type: "attached", launch: opened.launch, readonly });
    // Requested while it was being opened.
    if (cols !== size.cols || rows !== size.rows) opened.resize(cols, rows);
    if (readonly !== before) opened.watchOnly(readonly);
    opened.start({ data: show, end: (reason) => leave(closeCodes.normal, reason) });
  };
  begin().catch((error: unknown) => {
    if (!(error instanceof HoldfastError)) log.error("a terminal could not be opened", { cause: String(error) });
    leave(closeCodes.normal, error instanceof HoldfastError ? error.message : "The screen cannot be shown.");
  });

  return {
    bearer: asked.bearer,
    beat: (): void => {
      // A slow line answers a ping only after what is queued before it: taking bytes is a sign of life as well.
      silentBeats = socket.bufferedAmount < unsentAtLastBeat ? 0 : silentBeats + 1;
      unsentAtLastBeat = socket.bufferedAmount;
      if (silentBeats > maxSilentBeats) socket.terminate();
      else socket.ping();
    },
    leave,
    terminate: (): void => socket.terminate(),
  };
}

/** By hand: two small messages do not justify loading the schemas. */
function readRequest(text: string): TerminalRequest | null {
  let value: Partial<Record<string, unknown>> | null;
  try {
    value = JSON.parse(text) as Partial<Record<string, unknown>> | null;
  } catch {
    return null;
  }
  if (value?.["type"] === "readonly" && typeof value["on"] === "boolean") return { type: "readonly", on: value["on"] };
  const { type, cols, rows } = value ?? {};
  if (type !== "resize" || !Number.isFinite(cols) || !Number.isFinite(rows)) return null;
  return { type, cols: clamp(cols as number), rows: clamp(rows as number) };
}

/** A page that is being laid out may measure nonsense for a moment. */
function clamp(size: number): number {
  return Math.min(largest, Math.max(smallest, Math.floor(size)));
}
