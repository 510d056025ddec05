/** One plain request: gate, route, body, handler, answer. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Ask, Guard, Handlers, Logger, OwnRoute, RawBody } from "../ports/api.ts";
import { HoldfastError } from "../contract/error.ts";
import { requestHeader, type RouteName } from "../contract/http.ts";
import type { Route } from "../contract/route.ts";
import type { Answers } from "../contract/answers.ts";
import type { Access, Bearer } from "./access.ts";
import { sendBytes, sendError, sendJson } from "./answer.ts";
import { bodyLimit, checkSigned, readJsonBody, readRawBody, refuseBody } from "./body.ts";
import { checkAddress, checkRoute, checkSite, checkToken, fromOf, type Door, type Who } from "./gate.ts";
import type { OwnRoutes } from "./own-routes.ts";
import { Refusal } from "./refusal.ts";
import { splitUrl } from "./request-parts.ts";
import { nothingAt, readQuery, type FindRoute, type Match } from "./router.ts";

export interface DispatchParts {
  handlers: Handlers;
  guard: Guard;
  own: OwnRoutes;
  access: Access;
  who: Who;
  findRoute: FindRoute;
  webDirectory: string | null;
  readOnly: boolean;
  /** A read-only daemon that was started to halt the sessions may do that, and nothing else. */
  mayHalt?: boolean;
  bodyLimitBytes: number;
  log: Logger;
}

/** `proceed` answers `Expect: 100-continue`, once the body is wanted. */
export type Dispatch = (
  request: IncomingMessage,
  response: ServerResponse,
  door: Door,
  proceed: () => void,
) => Promise<void>;

export function createDispatch(parts: DispatchParts): Dispatch {
  return async (request, response, door, proceed) => {
    try {
      checkAddress(request, door);
      const { path, search } = splitUrl(request);
      if (path === "/openapi.json" || path === "/api" || path.startsWith("/api/")) {
        checkSite(request, door);
        await callRoute(parts, { request, response, door, proceed, path, search });
      } else {
        refuseBody(request);
        const navigation = (request.headers.accept ?? "").includes("text/html");
        const encodings = request.headers["accept-encoding"] ?? "";
        const wanted = { method: request.method ?? "GET", path, navigation, encodings };
        // Only a browser asks for these: they load with the first page.
        const { sendFile } = await import("./static-files.ts");
        await sendFile(parts.webDirectory, wanted, response);
      }
    } catch (error) {
      if (response.destroyed && !response.headersSent) return;
      if (!(error instanceof HoldfastError)) {
        const { path } = splitUrl(request);
        const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
        parts.log.error("a request failed", { method: request.method, path, cause });
      }
      sendError(request, response, error);
    }
  };
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  door: Door;
  proceed: () => void;
  path: string;
  search: string;
}

async function callRoute(parts: DispatchParts, call: Call): Promise<void> {
  const { request, response, door } = call;
  const method = request.method ?? "GET";
  const { match, bearer } = admit(parts, call, method);
  const { route, name } = match;
  checkRoute(bearer, name);
  if (parts.readOnly && !mayWhileReadOnly(route, door)) throw readOnlyRefusal();
  const query = readQuery(route, call.search);
  const actor = parts.who.actor(request, door, bearer);
  const body = await readBody(parts, call, route, bearer?.bearer === "device" ? bearer.body : null);
  const halts = name === "daemonStop" && parts.mayHalt === true && door.via === "socket" && door.for === "all";
  const unless = route.whileReadOnly?.unless;
  if (parts.readOnly && unless !== undefined && !halts && (body as Record<string, unknown>)[unless] === true) {
    throw readOnlyRefusal();
  }
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const named = request.headers[requestHeader];
  const ask: Ask = {
    params: match.params,
    query,
    body,
    actor,
    ...(bearer?.bearer === "device" ? { device: { id: bearer.id, rights: bearer.rights } } : {}),
    isKnown: door.via === "socket" || bearer !== null,
    ...(typeof named === "string" ? { requestId: named } : {}),
    signal: gone.signal,
  };
  if (isOwn(parts.own, name)) {
    parts.guard(name, ask);
    const still = (): void => void parts.who.actor(request, door, bearer);
    await parts.own[name]({ ...ask, bearer, still, from: fromOf(request, door), request, response });
    return;
  }
  const answer = await parts.handlers[name](ask);
  if (response.destroyed) return;
  if (name === "attachment") sendBytes(response, answer as Answers["attachment"]);
  else sendJson(response, answer);
}

function mayWhileReadOnly(route: Route, door: Door): boolean {
  if (route.method === "GET") return true;
  const { whileReadOnly } = route;
  return whileReadOnly !== undefined && (whileReadOnly.via === undefined || whileReadOnly.via === door.via);
}

function readOnlyRefusal(): Refusal {
  return new Refusal("read-only", "This daemon was started read-only; nothing can be changed.", {
    hint: "Run `holdfast stop` and start it without --read-only.",
  });
}

/** The token is asked for before anybody learns whether a path exists. */
function admit(parts: DispatchParts, call: Call, method: string): { match: Match; bearer: Bearer | null } {
  let match: Match | null = null;
  let refusal: unknown;
  try {
    match = parts.findRoute(method, call.path);
  } catch (error) {
    refusal = error;
  }
  const bearer =
    match?.route.access !== "anyone"
      ? checkToken(call.request, call.door, parts.access)
      : // The one open route that returns more to a client with a credential.
        match.name === "health"
        ? tokenIfAny(parts, call)
        : null;
  if (bearer !== null && call.door.via === "tcp") call.door.strangers.proven(call.request.socket);
  if (match === null) throw refusal;
  if (match.route.access === "socket-only" && call.door.via !== "socket") {
    throw nothingAt(
      method,
      call.path,
      "This is only answered over the daemon's unix socket; use the holdfast command.",
    );
  }
  return { match, bearer };
}

function tokenIfAny(parts: DispatchParts, { request, door }: Call): Bearer | null {
  try {
    return checkToken(request, door, parts.access);
  } catch {
    return null;
  }
}

/** `signed`: digest of the body that a device signed; null where nothing was signed. */
async function readBody(parts: DispatchParts, call: Call, route: Route, signed: string | null): Promise<unknown> {
  if (route.raw === true) {
    const { request, proceed } = call;
    return { read: (take) => readRawBody(request, proceed, take), headers: request.headers } satisfies RawBody;
  }
  if (route.body === undefined) {
    refuseBody(call.request);
    if (signed !== null) checkSigned(Buffer.alloc(0), signed);
    return undefined;
  }
  return readJsonBody(call.request, route.body, bodyLimit(route, parts.bodyLimitBytes), call.proceed, signed);
}

function isOwn(own: OwnRoutes, name: RouteName): name is OwnRoute {
  return Object.hasOwn(own, name);
}
