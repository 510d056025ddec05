/** What http needs of the daemon: a handler for each route that is about sessions, and the log to follow. */
import type { Claims, Peer } from "../contract/caller.ts";
import type { RouteName } from "../contract/http.ts";
import type { Right } from "../contract/rights.ts";
import type { Actor } from "../model/session.ts";
import type { Frame } from "../contract/stream.ts";
import type { Answers } from "../contract/answers.ts";
import type { TerminalView, ViewRequest } from "./runtime.ts";

export interface Ask {
  params: Record<string, string>;
  query: Record<string, string>;
  /** Validated by the route's schema; the handler casts it to that schema's type. */
  body: unknown;
  actor: Actor;
  /** The browser that asks; left out for the main token and the socket, which may do everything. */
  device?: { id: string; rights: Right };
  /** Whether the asker has shown a credential, or came by the socket; only routes for anyone are asked without. */
  isKnown: boolean;
  /** The asker's own name for this request, by which it can ask what has become of it. */
  requestId?: string;
  /** Aborted when the client has gone; what was begun goes on. */
  signal: AbortSignal;
}

/** The body of a route that takes bytes; nothing of it has been read yet. */
export interface RawBody {
  /** Hands on each piece as it comes and keeps none. Throws where it is too long, cut off, or too many are read at once. */
  read(take: (piece: Uint8Array) => void): Promise<void>;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Routes that http answers by itself. */
export type OwnRoute =
  | "challenge"
  | "login"
  | "loginLink"
  | "logout"
  | "devices"
  | "deviceEdit"
  | "deviceRevoke"
  | "tokenRotate"
  | "openapi"
  | "stream"
  | "sse"
  | "terminal";

export type Handlers = {
  [R in Exclude<RouteName, OwnRoute>]: (ask: Ask) => Answers[R] | Promise<Answers[R]>;
};

/** Throws where whoever asks may not use a route that http answers by itself. */
export type Guard = (route: OwnRoute, ask: Pick<Ask, "actor" | "query">) => void;

/** Tells the person from the agents that Holdfast launched. */
export interface Callers {
  /** Whose process is at the other end of a unix socket; asked once, when the connection begins. */
  peer(connection: object): Peer;
  /** The same for a client of this machine over TCP, by the ports of both ends. */
  tcpPeer(clientPort: number, ourPort: number): Peer;
  /** Throws a HoldfastError where nobody may ask so. */
  actor(peer: Peer, claims: Claims): Actor;
}

/** A frame of events as JSON, put together from the text that is stored. */
export interface EventsText {
  cursor: number;
  json: string;
}

/** The log as followers see it: they are told that something changed, and re-read behind their cursor. */
export interface Tail {
  hello(): Extract<Frame, { frame: "hello" }>;
  snapshot(session?: string): Extract<Frame, { frame: "snapshot" }>;
  /** What came behind `cursor`; null when there is nothing, `unknown` when this log never had that cursor. */
  read(cursor: number, session?: string): EventsText | null | "unknown";
  onChange(listener: () => void): () => void;
}

/** Screens of terminal sessions. */
export interface Terminals {
  /** Throws a HoldfastError that says why there is nothing to show. */
  open(session: string, request: ViewRequest): Promise<TerminalView>;
  /** The right that a device needs to type there. A shell runs whatever is typed, so it takes more than an agent. */
  typingNeeds(session: string): Right;
}

export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}
