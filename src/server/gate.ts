/**
 * Checks of every request and every upgrade, in this order: limits of the address, exact Host, exact Origin, token or
 * device, rights. For the unix socket (0600 in a 0700 directory) the file system has checked the user already.
 */
import type { IncomingMessage } from "node:http";
import type { Callers } from "../ports/api.ts";
import { actorHeader, capabilityHeader, type Claims, type Peer } from "../contract/caller.ts";
import {
  deviceProtocolPrefix,
  deviceScheme,
  readProofHeader,
  readProofProtocol,
  socketMethod,
  type DeviceProof,
} from "../contract/device-proof.ts";
import type { Operation } from "../contract/operation.ts";
import { tokenProtocolPrefix } from "../contract/stream.ts";
import { type Actor, sessionIdPattern } from "../contract/ids.ts";
import { includes, rightText, type Right } from "../contract/rights.ts";
import type { Access, Bearer, From } from "./access.ts";
import { createOwnAddresses, type Hosts } from "./hosts.ts";
import { quoted, Refusal } from "./response.ts";
import type { Strangers } from "./strangers.ts";

/** No address of ours comes near this; a longer one is a mistake or a probe. */
export const maxUrlBytes = 4096;

export type Who = ReturnType<typeof createWho>;

/** Where a request arrived. The unix sockets have no names to check; on the agents' one no caller is the user. */
export type Listener = { via: "socket"; for: "all" | "agents" } | { via: "tcp"; hosts: Hosts; strangers: Strangers };

export function checkAddress(request: IncomingMessage, listener: Listener): void {
  const url = request.url ?? "";
  if (url.length > maxUrlBytes) {
    throw new Refusal("too-large", `The address is longer than ${maxUrlBytes} bytes.`, { status: 414 });
  }
  if (!url.startsWith("/")) {
    throw new Refusal("invalid", "The address must be a path: this daemon is not a proxy.");
  }
  if (listener.via === "socket") return;
  const hosts = headerValues(request, "host");
  const host = hosts[0];
  if (hosts.length !== 1 || host === undefined || !listener.hosts.allows(host)) {
    const given = hosts.length === 1 && host !== undefined ? quoted(host) : hosts.length === 0 ? "none" : "several";
    throw new Refusal("misdirected-host", `Host not allowed: ${given}.`, {
      hint: `Use ${listener.hosts.url}, or add the address that browsers use: holdfast start --public-url https://<name>.`,
    });
  }
  const origin = request.headers.origin;
  if (origin !== undefined && !listener.hosts.allowsOrigin(origin)) {
    throw new Refusal("forbidden", `Requests from this Origin are refused: ${quoted(origin)}.`, {
      hint: `Only the dashboard itself may call from a browser: ${listener.hosts.url}. Add another address of it: holdfast start --public-url https://<name>.`,
    });
  }
}

/**
 * A page of another site can send a GET without Origin (an image, a script); browsers mark it. Ports do not make a site:
 * a page of another program on this machine is `same-site`. Upgrades always have an Origin.
 */
export function checkSite(request: IncomingMessage, listener: Listener): void {
  const site = request.headers["sec-fetch-site"];
  if (listener.via === "socket" || site === undefined || site === "same-origin" || site === "none") return;
  throw new Refusal("forbidden", `Requests from pages of other sites are refused (${quoted(site)}).`, {
    hint: `Open the dashboard itself: ${listener.hosts.url}.`,
  });
}

/** The caller's device or the main token; null over the unix socket. `upgrade`: a request for a WebSocket. */
export function checkToken(
  request: IncomingMessage,
  listener: Listener,
  access: Access,
  upgrade = false,
): Bearer | null {
  if (listener.via === "socket") return null;
  const offered = upgrade ? protocolsOf(request) : [];
  const proof = deviceProof(request, offered);
  if (proof !== null) {
    const method = upgrade ? socketMethod : (request.method ?? "");
    return access.checkDevice(proof, { method, path: request.url ?? "" }, fromOf(request, listener));
  }
  const token = bearerToken(request) ?? protocolToken(offered);
  if (token === null) {
    throw new Refusal("unauthorized", "Authentication required.", {
      hint: "Run `holdfast dashboard` for a login link, or send the header `Authorization: Bearer <token>`.",
      headers: { "WWW-Authenticate": "Bearer" },
    });
  }
  const bearer = access.check(token);
  if (bearer !== null) return bearer;
  throw new Refusal("unauthorized", "The token is not valid.", {
    hint: "It may have been replaced. Read it again from the file `token` in Holdfast's home.",
    headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' },
  });
}

export function fromOf(request: IncomingMessage, listener: Listener): From {
  return {
    origin: request.headers.origin,
    address: listener.via === "tcp" ? (request.socket.remoteAddress ?? null) : null,
    allowsOrigin: (origin) => listener.via === "tcp" && listener.hosts.allowsOrigin(origin),
  };
}

/** The main token and the socket may do everything. */
export function checkRight(bearer: Bearer | null, needed: Right, what: string): void {
  if (bearer?.bearer !== "device" || includes(bearer.rights, needed)) return;
  throw new Refusal("forbidden", `This device ${rightText[bearer.rights]}; ${what} needs more.`, {
    hint: `On a device with all rights, change it under Settings, Devices. Or run \`holdfast device rights ${bearer.id} ${needed}\`.`,
  });
}

export function checkOperation(bearer: Bearer | null, { who: { device } }: Operation): void {
  if (device !== "anyone") checkRight(bearer, device === "socket-only" ? "all" : device, "this");
}

/** Identifies the caller of each request; the process at the other end of a connection is looked up once. */
export function createWho(callers: Callers) {
  const peers = new WeakMap<object, Peer>();
  const isOfThisMachine = createOwnAddresses();
  const once = (connection: object, find: () => Peer): Peer => {
    const known = peers.get(connection);
    if (known !== undefined) return known;
    const peer = find();
    peers.set(connection, peer);
    return peer;
  };
  return {
    /** Called when a connection begins: later its process may be gone. */
    begin: (connection: object): void => void once(connection, () => callers.peer(connection)),
    actor: (request: IncomingMessage, listener: Listener, bearer: Bearer | null): Actor => {
      const { socket } = request;
      if (listener.via === "socket") {
        const peer = once(socket, () => callers.peer(socket));
        return callers.actor(peer, claimsOf(request, listener.for === "agents" ? "agents" : "main"));
      }
      // Every agent of this user can read the main token's file, but no browser's key.
      if (bearer?.bearer !== "main") return "person";
      const { remoteAddress, localAddress } = socket;
      // Equal: an address that this machine got a moment ago.
      if (remoteAddress !== localAddress && !isOfThisMachine(remoteAddress)) return "person";
      const peer = once(socket, () => callers.tcpPeer(socket.remotePort ?? 0, socket.localPort ?? 0));
      return callers.actor(peer, { listener: "tcp", capability: null, session: null });
    },
  };
}

function claimsOf(request: IncomingMessage, listener: Claims["listener"]): Claims {
  const capability = request.headers[capabilityHeader];
  const named = request.headers[actorHeader];
  const claims = { listener, capability: typeof capability === "string" ? capability : null, session: null };
  if (named === undefined || named === "person") return claims;
  const session = typeof named === "string" && named.startsWith("session:") ? named.slice("session:".length) : "";
  if (!sessionIdPattern.test(session)) {
    throw new Refusal("invalid", `${actorHeader} must be "session:<id>", not ${quoted(String(named))}.`);
  }
  return { ...claims, session };
}

function bearerToken(request: IncomingMessage): string | null {
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i.exec(request.headers.authorization ?? "");
  return match?.[1] ?? null;
}

/** Null without one; a malformed one is refused, whatever else is offered. */
function deviceProof(request: IncomingMessage, offered: string[]): DeviceProof | null {
  const header = request.headers.authorization ?? "";
  const protocol = offered.find((each) => each.startsWith(deviceProtocolPrefix));
  const isHeader = header.startsWith(`${deviceScheme} `);
  if (!isHeader && protocol === undefined) return null;
  const proof = isHeader ? readProofHeader(header) : readProofProtocol(protocol ?? "");
  if (proof === null) throw new Refusal("unauthorized", "The device's proof cannot be read.");
  return proof;
}

/** A browser cannot set a header on a WebSocket, so there a proof comes as a subprotocol; never in the address. */
function protocolsOf(request: IncomingMessage): string[] {
  return (request.headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim());
}

function protocolToken(offered: string[]): string | null {
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
