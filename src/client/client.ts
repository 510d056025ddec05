/**
 * The typed client: one call for each route of the protocol's table, over whatever carries a request. Neither Node nor
 * a browser is assumed; the transport is given. Loads no schemas: a CLI must answer in a blink.
 */
import { errorStatus, HoldfastError, messageOf, type ErrorCode } from "../contract/error.ts";
import { requestHeader, routes } from "../contract/http.ts";
import type { Route } from "../contract/route.ts";
import type * as command from "../contract/command.ts";
import type { Answers } from "../contract/answers.ts";
import type * as z from "zod/mini";

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

/** Those that answer in JSON. */
export type CallableRoute = Exclude<keyof Answers, "attachment">;

type Table = typeof routes;
export type BodyOf<R extends CallableRoute> = Table[R] extends { body: infer B extends keyof typeof command }
  ? z.input<Extract<(typeof command)[B], z.ZodMiniType>>
  : undefined;

export interface CallOptions<R extends CallableRoute> {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: BodyOf<R>;
  /** A name for this request, by which the daemon can be asked about it while it waits. */
  requestId?: string;
  signal?: AbortSignal;
}

export interface Client {
  /** Rejects with HoldfastError: the daemon's own code and hint, or `unreachable` when nothing answered. */
  call<R extends CallableRoute>(route: R, options?: CallOptions<R>): Promise<Answers[R]>;
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
      const route: Route = routes[name];
      const headers: Record<string, string> = { Accept: "application/json", ...identity };
      const bearer = token?.() ?? null;
      if (bearer !== null) headers["Authorization"] = `Bearer ${bearer}`;
      if (options.requestId !== undefined) headers[requestHeader] = options.requestId;
      const takesBody = route.body !== undefined;
      if (takesBody) headers["Content-Type"] = "application/json";
      const request: TransportRequest = {
        method: route.method,
        path: pathOf(route, options.params ?? {}, options.query ?? {}),
        headers,
        body: takesBody ? JSON.stringify(options.body ?? {}) : null,
        signal: options.signal,
      };
      return read(await send(transport, request)) as Answers[typeof name];
    },
  };
}

export function pathOf(
  route: Route,
  params: Record<string, string>,
  query: Record<string, string | number | undefined>,
): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // An empty segment would be another route: `/api/sessions//kill`.
    if (value === undefined || value === "") throw new Error(`${route.path} needs ${name}`);
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
    throw new HoldfastError("unreachable", `The daemon did not answer: ${messageOf(error)}`, {
      hint: "Run `holdfast info` to see whether it runs.",
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

/** The daemon's error as it was thrown there; null when the answer is none of ours. */
export function errorFrom(value: unknown): HoldfastError | null {
  const error = (value as { error?: { code?: unknown; message?: unknown; hint?: unknown } } | null)?.error;
  if (typeof error?.code !== "string" || typeof error.message !== "string") return null;
  // A newer daemon may know codes that this client does not.
  const code = Object.hasOwn(errorStatus, error.code) ? (error.code as ErrorCode) : "internal";
  return new HoldfastError(code, error.message, typeof error.hint === "string" ? { hint: error.hint } : {});
}

function notOurs(status: number, cause?: unknown): HoldfastError {
  return new HoldfastError("unreachable", `What answered (status ${status}) is not a Holdfast daemon.`, {
    hint: "Another program may have its port.",
    cause,
  });
}
