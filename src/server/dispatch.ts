/** One plain request: gate, operation, body, handler, response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { requestHeader } from "../contract/caller.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";
import type { OperationName, RawBody } from "../contract/operations.ts";
import type { ApiRequest, Authorize, Call, HandledOperation, Handlers, Logger, ServerOperation } from "../ports/api.ts";
import type { Access, Bearer } from "./access.ts";
import { bodyLimit, checkSigned, readJsonBody, readRawBody, refuseBody } from "./body.ts";
import { checkAddress, checkOperation, checkSite, checkToken, fromOf, type Listener, type Who } from "./gate.ts";
import type { Connection, OwnOperations } from "./own-operations.ts";
import { Refusal, sendBytes, sendError, sendJson } from "./response.ts";
import { notFound, readQuery, splitUrl, type FindOperation, type Match } from "./router.ts";

export interface DispatchServices {
  handlers: Handlers;
  authorize: Authorize;
  own: OwnOperations;
  access: Access;
  who: Who;
  findOperation: FindOperation;
  webDirectory: string | null;
  readOnly: boolean;
  /** A read-only daemon that was started to halt the sessions may do that, and nothing else. */
  mayHalt?: boolean;
  bodyLimitBytes: number;
  log: Logger;
}

/** `proceed` answers `Expect: 100-continue`, once the body is needed. */
export type Dispatch = (
  request: IncomingMessage,
  response: ServerResponse,
  listener: Listener,
  proceed: () => void,
) => Promise<void>;

export function createDispatch(services: DispatchServices): Dispatch {
  return async (request, response, listener, proceed) => {
    try {
      checkAddress(request, listener);
      const { path, search } = splitUrl(request);
      if (path === "/openapi.json" || path === "/api" || path.startsWith("/api/")) {
        checkSite(request, listener);
        await callOperation(services, { request, response, listener, proceed, path, search });
      } else {
        refuseBody(request);
        const navigation = (request.headers.accept ?? "").includes("text/html");
        const encodings = request.headers["accept-encoding"] ?? "";
        const file = { method: request.method ?? "GET", path, navigation, encodings };
        // Only browsers ask for these: they load with the first page.
        const { sendFile } = await import("./static-files.ts");
        await sendFile(services.webDirectory, file, response);
      }
    } catch (error) {
      if (response.destroyed && !response.headersSent) return;
      if (!(error instanceof HoldfastError)) {
        const { path } = splitUrl(request);
        const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
        services.log.error("request failed", { method: request.method, path, cause });
      }
      sendError(request, response, error);
    }
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  listener: Listener;
  proceed: () => void;
  path: string;
  search: string;
}

async function callOperation(services: DispatchServices, exchange: Exchange): Promise<void> {
  const { request, response, listener } = exchange;
  const { match, bearer } = admit(services, exchange, request.method ?? "GET");
  const { operation, name } = match;
  checkOperation(bearer, operation);
  if (services.readOnly && !mayWhileReadOnly(operation, listener)) throw readOnlyRefusal();
  const query = readQuery(operation, exchange.search);
  const actor = services.who.actor(request, listener, bearer);
  const input = await readBody(services, exchange, operation, bearer?.bearer === "device" ? bearer.body : null);
  const halts =
    name === "daemonStop" && services.mayHalt === true && listener.via === "socket" && listener.for === "all";
  const unless = operation.who.whileReadOnly?.unless;
  if (services.readOnly && unless !== undefined && !halts && isSet(input, unless)) throw readOnlyRefusal();
  const disconnected = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) disconnected.abort();
  });
  const requestId = request.headers[requestHeader];
  const call = {
    name,
    params: match.params,
    query,
    input,
    actor,
    ...(bearer?.bearer === "device" ? { device: { id: bearer.id, rights: bearer.rights } } : {}),
    isKnown: listener.via === "socket" || bearer !== null,
    ...(typeof requestId === "string" ? { requestId } : {}),
    signal: disconnected.signal,
    // The router and the schemas of this operation have made it so.
  } as Call & ApiRequest<OperationName>;
  services.authorize(call);
  const recheck = (): void => void services.who.actor(request, listener, bearer);
  const from = fromOf(request, listener);
  const output = isOwn(services.own, name)
    ? await callOwn(services.own, name, call, { bearer, recheck, from, request, response })
    : await callHandler(services.handlers, name, call);
  if (output === undefined || response.destroyed) return;
  if (name === "attachment") sendBytes(response, output as Awaited<ReturnType<Handlers["attachment"]>>);
  else sendJson(response, output);
}

function callHandler<N extends HandledOperation>(handlers: Handlers, name: N, request: ApiRequest<N>): unknown {
  return handlers[name](request);
}

function callOwn<N extends ServerOperation>(
  own: OwnOperations,
  name: N,
  request: ApiRequest<N>,
  connection: Connection,
): unknown {
  return own[name](request, connection);
}

function isSet(input: unknown, field: string): boolean {
  return typeof input === "object" && input !== null && field in input && input[field as keyof typeof input] === true;
}

function mayWhileReadOnly({ method, who: { whileReadOnly } }: Operation, listener: Listener): boolean {
  if (method === "GET") return true;
  return whileReadOnly !== undefined && (whileReadOnly.via === undefined || whileReadOnly.via === listener.via);
}

function readOnlyRefusal(): Refusal {
  return new Refusal("read-only", "This daemon is read-only; nothing can be changed.", {
    hint: "Restart it without --read-only: holdfast stop, then holdfast start",
  });
}

/** Asks for a credential before it reveals whether a path exists. */
function admit(
  services: DispatchServices,
  exchange: Exchange,
  method: string,
): { match: Match; bearer: Bearer | null } {
  let match: Match | null = null;
  let refusal: unknown;
  try {
    match = services.findOperation(method, exchange.path);
  } catch (error) {
    refusal = error;
  }
  const bearer =
    match?.operation.who.device !== "anyone"
      ? checkToken(exchange.request, exchange.listener, services.access)
      : // The one open operation that returns more to a client with a credential.
        match.name === "health"
        ? tokenIfAny(services, exchange)
        : null;
  if (bearer !== null && exchange.listener.via === "tcp") exchange.listener.strangers.proven(exchange.request.socket);
  if (match === null) throw refusal;
  if (match.operation.who.device === "socket-only" && exchange.listener.via !== "socket") {
    throw notFound(method, exchange.path, "Only available over the daemon's unix socket; use the holdfast command.");
  }
  return { match, bearer };
}

function tokenIfAny(services: DispatchServices, { request, listener }: Exchange): Bearer | null {
  try {
    return checkToken(request, listener, services.access);
  } catch {
    return null;
  }
}

/** `signed`: digest of the body that a device signed; null if nothing was signed. */
async function readBody(
  services: DispatchServices,
  { request, proceed }: Exchange,
  operation: Operation,
  signed: string | null,
): Promise<unknown> {
  if (operation.raw === true) {
    return { read: (take) => readRawBody(request, proceed, take), headers: request.headers } satisfies RawBody;
  }
  if (operation.input === undefined) {
    refuseBody(request);
    if (signed !== null) checkSigned(Buffer.alloc(0), signed);
    return undefined;
  }
  return readJsonBody(request, operation.input, bodyLimit(operation, services.bodyLimitBytes), proceed, signed);
}

function isOwn(own: OwnOperations, name: OperationName): name is ServerOperation {
  return Object.hasOwn(own, name);
}
