/** What the server needs from the daemon: a handler per operation, the event log, and the caller's identity. */
import type { Claims, Peer } from "../contract/caller.ts";
import type { Input, OperationName, Output, Params, Query } from "../contract/operations.ts";
import type { Right } from "../contract/rights.ts";
import type { Frame } from "../contract/stream.ts";
import type { Actor } from "../contract/ids.ts";
import type { TerminalView, ViewRequest } from "./runtime.ts";

/** One API call as a handler receives it; the server has checked it against the contract. */
export interface ApiRequest<N extends OperationName> {
  params: Params<N>;
  query: Query<N>;
  input: Input<N>;
  actor: Actor;
  /** The calling browser; missing for the main token and the socket, which may do everything. */
  device?: { id: string; rights: Right };
  /** Whether the caller showed a credential or came over the socket; only operations for anyone are called without. */
  isKnown: boolean;
  /** The caller's own id for this request. */
  requestId?: string;
  /** Aborted when the client disconnects; work that has started continues. */
  signal: AbortSignal;
}

/** Operations that the server handles without the daemon. */
export type ServerOperation =
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

export type HandledOperation = Exclude<OperationName, ServerOperation>;

export type Handler<N extends OperationName> = (request: ApiRequest<N>) => Output<N> | Promise<Output<N>>;

/** Handlers of some operations; without a list, of all that the daemon handles. */
export type Handlers<N extends HandledOperation = HandledOperation> = { [Name in N]: Handler<Name> };

/** A call of any operation, distinguished by its name. */
export type Call = {
  [N in OperationName]: { name: N } & Pick<ApiRequest<N>, "actor" | "params" | "query" | "input">;
}[OperationName];

/** Throws if the caller may not make this call. */
export type Authorize = (call: Call) => void;

/** Distinguishes the user from the agents that Holdfast launched. */
export interface Callers {
  /** Whose process is at the other end of a unix socket; called once per connection. */
  peer(connection: object): Peer;
  /** The same for a client of this machine over TCP, by the ports of both ends. */
  tcpPeer(clientPort: number, ourPort: number): Peer;
  /** Throws a HoldfastError if such a caller has no access. */
  actor(peer: Peer, claims: Claims): Actor;
}

/** A frame of events as JSON, assembled from the stored text. */
export interface EventsText {
  cursor: number;
  json: string;
}

/** The log for followers: they are notified of a change and re-read from their cursor. */
export interface Tail {
  hello(): Extract<Frame, { frame: "hello" }>;
  snapshot(session?: string): Extract<Frame, { frame: "snapshot" }>;
  /** Events after `cursor`; null if there are none, `unknown` if this log never had that cursor. */
  read(cursor: number, session?: string): EventsText | null | "unknown";
  onChange(listener: () => void): () => void;
}

/** Screens of terminal sessions. */
export interface Terminals {
  /** Throws a HoldfastError with the reason if there is nothing to show. */
  open(session: string, request: ViewRequest): Promise<TerminalView>;
  /** The right a device needs to type there: more for a shell, which runs whatever is typed. */
  typingNeeds(session: string): Right;
}

export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}
