/**
 * The typed client: one call for each route of the protocol's table, over whatever carries a request. Neither Node nor
 * a browser is assumed; the transport is given. Loads no schemas: a CLI must answer in a blink.
 */
import { errorStatus, HoldfastError, messageOf, type ErrorBody } from "../contract/errors.ts";
import { requestHeader } from "../contract/caller.ts";
import type { Operation } from "../contract/operation.ts";
import {
  operation,
  type ClientInput,
  type OperationName,
  type Output,
  type Params,
  type Query,
} from "../contract/operations.ts";

export interface TransportRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
  signal?: AbortSignal | undefined;
}

export interface Transport {
  request(request: TransportRequest): Promise<{ status: number; text: string }>;
}

/** Operations that respond with one JSON document. */
export type CallableOperation = Exclude<OperationName, "attachment" | "stream" | "sse" | "terminal">;

export interface CallOptions<N extends CallableOperation> {
  params?: Params<N>;
  query?: { [P in keyof Query<N>]?: string | number | undefined };
  body?: ClientInput<N>;
  /** An id for this request, to ask the daemon about it while it is pending. */
  requestId?: string;
  signal?: AbortSignal;
}

export interface Client {
  /** Rejects with HoldfastError: the daemon's own code and hint, or `unreachable` when nothing answered. */
  call<N extends CallableOperation>(name: N, options?: CallOptions<N>): Promise<Output<N>>;
}

export interface ClientOptions {
  transport: Transport;
  /** Asked for each call, so that a login takes effect at once. */
  token?: () => string | null;
  /** Over the unix socket: headers that say who asks. */
  identity?: Readonly<Record<string, string>>;
}

export function createClient({ transport, token, identity }: ClientOptions): Client {
  return {
    call: async (name, options = {}) => {
      const called = operation(name);
      const headers: Record<string, string> = { Accept: "application/json", ...identity };
      const bearer = token?.() ?? null;
      if (bearer !== null) headers["Authorization"] = `Bearer ${bearer}`;
      if (options.requestId !== undefined) headers[requestHeader] = options.requestId;
      const hasInput = called.input !== undefined;
      if (hasInput) headers["Content-Type"] = "application/json";
      const request: TransportRequest = {
        method: called.method,
        path: pathOf(called, options.params ?? {}, options.query ?? {}),
        headers,
        body: hasInput ? JSON.stringify(options.body ?? {}) : null,
        signal: options.signal,
      };
      return read(await send(transport, request)) as Output<typeof name>;
    },
  };
}

export function pathOf(
  { path: pattern }: Pick<Operation, "path">,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // An empty segment would be another operation: `/api/sessions//kill`.
    if (value === undefined || value === "") throw new Error(`${pattern} needs ${name}`);
    return encodeURIComponent(value);
  });
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return search.length === 0 ? path : `${path}?${search.join("&")}`;
}

async function send(transport: Transport, request: TransportRequest): Promise<{ status: number; text: string }> {
  try {
    return await transport.request(request);
  } catch (error) {
    if (error instanceof HoldfastError || request.signal?.aborted === true) throw error;
    throw new HoldfastError("unreachable", `The daemon did not respond: ${messageOf(error)}`, {
      hint: "Check whether it is running: holdfast info",
      cause: error,
    });
  }
}

function read({ status, text }: { status: number; text: string }): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw notOurs(status, cause);
  }
  if (status >= 200 && status < 300) return value;
  throw errorFrom(value) ?? notOurs(status);
}

/** The daemon's error as it was thrown there; null if the response is not from a daemon. */
export function errorFrom(value: unknown): HoldfastError | null {
  const error = (value as { error?: Partial<ErrorBody["error"]> } | null)?.error;
  if (typeof error?.code !== "string" || typeof error.message !== "string") return null;
  // A newer daemon may know codes that this client does not.
  const code = Object.hasOwn(errorStatus, error.code) ? error.code : "internal";
  const { hint, details = {} } = error;
  return new HoldfastError(code, error.message, { details, ...(typeof hint === "string" ? { hint } : {}) });
}

function notOurs(status: number, cause?: unknown): HoldfastError {
  return new HoldfastError("unreachable", `The server that responded (status ${status}) is not a Holdfast daemon.`, {
    hint: "Another program may be using its port.",
    cause,
  });
}
