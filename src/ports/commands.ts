/** What http needs of the daemon: a handler for each route that is about sessions, and the log to follow. */
import type { RouteName } from "../protocol/http.ts";
import type { Actor } from "../protocol/session.ts";
import type { Frame } from "../protocol/stream.ts";
import type { Answers } from "../protocol/answers.ts";
import type { TerminalView, ViewRequest } from "./runtime.ts";

export interface Ask {
  params: Record<string, string>;
  query: Record<string, string>;
  /** Validated by the route's schema; the handler casts it to that schema's type. */
  body: unknown;
  actor: Actor;
  /** The asker's own name for this request, by which it can ask what has become of it. */
  requestId?: string;
  /** Aborted when the client has gone; what was begun goes on. */
  signal: AbortSignal;
}

/** The body of a route that takes bytes. */
export interface RawBody {
  bytes: Uint8Array;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Routes that http answers by itself. */
export type OwnRoute = "login" | "loginLink" | "logout" | "openapi" | "stream" | "sse" | "terminal";

export type Handlers = {
  [R in Exclude<RouteName, OwnRoute>]: (ask: Ask) => Answers[R] | Promise<Answers[R]>;
};

/** Throws where whoever asks may not use a route that http answers by itself. */
export type Guard = (route: OwnRoute, ask: Pick<Ask, "actor" | "query">) => void;

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
}

export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}
