/**
 * What stands in front of every request and every upgrade, in this order: limits of the address, exact Host, exact
 * Origin, token. Over the unix socket (0600 in a 0700 directory) the file system has asked already.
 */
import type { IncomingMessage } from "node:http";
import { tokenProtocolPrefix } from "../protocol/http.ts";
import { sessionIdPattern } from "../protocol/ids.ts";
import type { Actor } from "../protocol/session.ts";
import type { Access, Bearer } from "./access.ts";
import type { Hosts } from "./hosts.ts";
import { quoted, Refusal } from "./refusal.ts";

/** No address of ours comes near this; a longer one is a mistake or a probe. */
export const maxUrlBytes = 4096;

/** Where a request came in. The unix socket has no names to check. */
export type Door = { via: "socket" } | { via: "tcp"; hosts: Hosts };

export function checkAddress(request: IncomingMessage, door: Door): void {
  const url = request.url ?? "";
  if (url.length > maxUrlBytes) {
    throw new Refusal("too-large", `The address is longer than ${maxUrlBytes} bytes.`, { status: 414 });
  }
  if (!url.startsWith("/")) {
    throw new Refusal("invalid", "The address must be a path: this daemon is not a proxy.");
  }
  if (door.via === "socket") return;
  const hosts = headerValues(request, "host");
  const host = hosts[0];
  if (hosts.length !== 1 || host === undefined || !door.hosts.allows(host)) {
    const given = hosts.length === 1 && host !== undefined ? quoted(host) : hosts.length === 0 ? "none" : "several";
    throw new Refusal("misdirected-host", `This daemon does not answer for this Host: ${given}.`, {
      hint: `Use ${door.hosts.url}. A forwarded port must have the same number on both ends.`,
    });
  }
  const origin = request.headers.origin;
  if (origin !== undefined && !door.hosts.allowsOrigin(origin)) {
    throw new Refusal("forbidden", `Requests from this Origin are refused: ${quoted(origin)}.`, {
      hint: `Only the dashboard itself may call from a browser: ${door.hosts.url}.`,
    });
  }
}

/** Who asks, by token; null over the unix socket. */
export function checkToken(request: IncomingMessage, door: Door, access: Access): Bearer | null {
  if (door.via === "socket") return null;
  const token = bearerToken(request) ?? protocolToken(request);
  if (token === null) {
    throw new Refusal("unauthorized", "A token is needed.", {
      hint: "Run `holdfast dashboard` for a login link, or send the header `Authorization: Bearer <token>`.",
      headers: { "WWW-Authenticate": "Bearer" },
    });
  }
  const bearer = access.check(token);
  if (bearer === null) {
    throw new Refusal("unauthorized", "The token is not valid.", {
      hint: "It may have expired or been revoked. Run `holdfast dashboard` for a new login link.",
      headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' },
    });
  }
  return bearer;
}

/** Only the socket's other end is known to be the person's own; over TCP nobody may speak for a session. */
export function actorOf(request: IncomingMessage, door: Door): Actor {
  const named = request.headers["holdfast-actor"];
  if (door.via !== "socket" || named === undefined) return "person";
  if (named === "person") return named;
  const session = typeof named === "string" && named.startsWith("session:") ? named.slice("session:".length) : "";
  if (!sessionIdPattern.test(session)) {
    throw new Refusal("invalid", `holdfast-actor must be "session:<id>", not ${quoted(String(named))}.`);
  }
  return `session:${session}`;
}

function bearerToken(request: IncomingMessage): string | null {
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(request.headers.authorization ?? "");
  return match?.[1] ?? null;
}

/** A browser cannot set a header on a WebSocket, so there the token comes as a subprotocol; never in the address. */
function protocolToken(request: IncomingMessage): string | null {
  if (request.headers.upgrade === undefined) return null;
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim());
  const found = offered.find((each) => each.startsWith(tokenProtocolPrefix));
  return found === undefined ? null : found.slice(tokenProtocolPrefix.length);
}

/** Node keeps only the first of several Host headers; another server in between may have believed the second. */
function headerValues(request: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  const raw = request.rawHeaders;
  for (let at = 0; at < raw.length; at += 2) {
    const key = raw[at];
    if (key !== undefined && key.length === name.length && key.toLowerCase() === name) values.push(raw[at + 1] ?? "");
  }
  return values;
}
