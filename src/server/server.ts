/**
 * The API: a unix socket for the CLI and a TCP port for browsers, both with the operations of the contract. No
 * framework: see docs/decisions/0002. Owns its two servers and every follower, and closes them all within a second.
 */
import { chmodSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsFiles } from "../base/tls-files.ts";
import type { Callers, Authorize, Handlers, Logger, Tail, Terminals } from "../ports/api.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { FollowingDevice } from "../contract/stream.ts";
import type { DeviceJson } from "../contract/device.ts";
import type { Access, Bearer } from "./access.ts";
import { createServer, refuseUpgrade, Refusal } from "./response.ts";
import { promptLimitBytes } from "./body.ts";
import { createDispatch, type Dispatch } from "./dispatch.ts";
import { createFollowers } from "./followers.ts";
import { createWho, type Listener } from "./gate.ts";
import { assertMayListen, createHosts, isAlsoIpv6 } from "./hosts.ts";
import { createOwnOperations } from "./own-operations.ts";
import { createRouter } from "./router.ts";
import { claimSocketPath, listenOn } from "./listen.ts";
import { createTerminalSockets } from "./terminals.ts";
import { createUpgrade } from "./upgrade.ts";
import { createStrangers, type StrangerLimits } from "./strangers.ts";

/** Running requests get this long to finish when the daemon stops; then their connections are cut. */
const graceMs = 400;
const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  /** For the complete request to arrive, a 64 MiB prompt over a slow line included. */
  requestTimeout: 120_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 10_000,
  // Our own gate refuses a missing Host.
  requireHostHeader: false,
};
/** No [::1] on this machine: no other program can listen there. */
const noIpv6 = new Set(["EADDRNOTAVAIL", "EAFNOSUPPORT"]);
/** Descriptors are shared with agents' files. Strangers get a part of these: see strangers.ts. */
const maxConnections = 512;

export interface ApiOptions {
  handlers: Handlers;
  authorize: Authorize;
  callers: Callers;
  tail: Tail;
  terminals: Terminals;
  access: Access;
  webDirectory: string | null;
  version: string;
  build: string;
  readOnly: boolean;
  mayHalt?: boolean;
  /** Devices lost their access, all of them if null: their push subscriptions must go too. */
  onRevoked?: (devices: readonly string[] | null) => Promise<void>;
  /** Called for a new device while there are others, to notify them. */
  onNewDevice?: (device: DeviceJson) => void;
  log: Logger;
  /** Addresses besides our own, for proxies and tunnels; each exact. */
  publicUrls?: readonly string[];
  /** Our own TLS on the TCP port. */
  tls?: TlsFiles | null;
  bodyLimitBytes?: number;
  heartbeatMs?: number;
  strangerLimits?: Partial<StrangerLimits>;
}

export interface Api {
  /**
   * Called again if the path was removed: replaces the previous listener, whose connections stay open.
   * @param audience `agents`: no caller counts as the user there.
   */
  listenSocket(path: string, audience?: "all" | "agents"): Promise<void>;
  listenTcp(host: string, port: number): Promise<{ port: number; url: string }>;
  /**
   * Listens on the same port of [::1], which browsers try first for `localhost`. False if another program has it:
   * `localhost` is then not accepted as a Host, nor is it before this call.
   */
  listenIpv6(): Promise<boolean>;
  /** Closes every connection; safe to call twice. */
  close(): Promise<void>;
}

export function createApi(options: ApiOptions): Api {
  const { access, log } = options;
  const servers: Server[] = [];
  const socketServers = new Map<string, Server>();
  const who = createWho(options.callers);
  const running = new Set<ServerResponse>();
  let url: string | null = null;
  let tcp: { host: string; port: number; listener: Listener; ipv6: boolean; localhost: boolean } | null = null;
  const { publicUrls = [], tls = null } = options;
  const strangers = createStrangers({
    port: () => tcp?.port ?? 0,
    ...(options.strangerLimits === undefined ? {} : { limits: options.strangerLimits }),
  });
  let closing: Promise<void> | undefined;
  const deviceOf = (bearer: Bearer | null): FollowingDevice | null => {
    const known = bearer?.bearer === "device" ? access.devices.get(bearer.id) : null;
    if (known === null) return null;
    // An open page without requests is in use too: it asks for a sign of life.
    access.devices.seen(known, known.lastAddress);
    return { id: known.id, name: known.name, rights: known.rights };
  };
  const followers = createFollowers(options.tail, { log, heartbeatMs: options.heartbeatMs, deviceOf });
  const terminals = createTerminalSockets(options.terminals, options);
  const findOperation = createRouter();
  // A certificate is for a name: with our own TLS the link leads to the public address.
  const linkUrl = (): string | null => (tls === null ? url : (publicUrls[0] ?? url));
  const own = createOwnOperations({ ...options, followers, terminals, url: linkUrl });
  const dispatch = createDispatch({
    ...options,
    who,
    own,
    findOperation,
    bodyLimitBytes: options.bodyLimitBytes ?? promptLimitBytes,
  });
  const upgrade = createUpgrade({ ...options, who, followers, terminals, findOperation });

  const addServer = (listener: () => Listener, made: Server): Server => {
    if (closing !== undefined) throw new Error("the API is closed");
    const server = serve(made, dispatch, listener, running);
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void upgrade(request, socket, head, listener());
    });
    servers.push(server);
    return server;
  };

  const addTcpServer = async (): Promise<Server> => {
    const made =
      tls === null ? createServer(serverOptions) : (await import("./tls.ts")).createTlsServer(tls, serverOptions, log);
    const server = addServer(() => {
      if (tcp === null) throw new Error("request before the port was known");
      return tcp.listener;
    }, made);
    server.maxConnections = maxConnections;
    server.on("connection", (socket: Socket) => strangers.add(socket));
    server.on("secureConnection", (socket: Socket) => strangers.secured(socket));
    return server;
  };

  return {
    listenSocket: async (path, audience = "all") => {
      // First: closing removes the path, even if another server listens there by then.
      socketServers.get(path)?.close();
      await claimSocketPath(path);
      const server = addServer(() => ({ via: "socket", for: audience }), createServer(serverOptions));
      server.on("connection", (connection: object) => who.begin(connection));
      socketServers.set(path, server);
      // Bound and listening when this returns; nothing can be accepted before the mode is set, in the same turn.
      const listening = listenOn(server, { path });
      if (server.listening) chmodSync(path, 0o600);
      await listening;
    },
    listenTcp: async (host, port) => {
      if (host === "") throw new HoldfastError("usage", "A host to listen on must be given.");
      assertMayListen(host, access.mode, access.hasPassphrase);
      const server = await addTcpServer();
      // A lookup might return [::1], which belongs to listenIpv6.
      const address = host === "localhost" ? "127.0.0.1" : host;
      await listenOn(server, { host: address, port });
      const actual = (server.address() as AddressInfo).port;
      const hasIpv6 = (): boolean => tcp?.ipv6 === true;
      const hasLocalhost = (): boolean => tcp?.localhost === true;
      const hosts = createHosts(host, actual, { publicUrls, tls: tls !== null, hasIpv6, hasLocalhost });
      const listener: Listener = { via: "tcp", hosts, strangers };
      tcp = { host, port: actual, listener, ipv6: !isAlsoIpv6(host), localhost: host === "::" };
      url = hosts.url;
      return { port: actual, url: hosts.url };
    },
    listenIpv6: async () => {
      if (tcp === null || !isAlsoIpv6(tcp.host)) return true;
      const { port } = tcp;
      try {
        const server = await addTcpServer();
        await listenOn(server, { host: "::1", port });
        tcp.ipv6 = true;
        tcp.localhost = true;
      } catch (error) {
        tcp.localhost = noIpv6.has(((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? "");
      }
      // A stopping daemon needs none.
      return tcp.localhost || closing !== undefined;
    },
    close: () => {
      // Pending responses announce that the connection closes, so that no client sends more into it.
      for (const response of running) response.shouldKeepAlive = false;
      strangers.close();
      closing ??= closeAll(servers, [followers, terminals]);
      return closing;
    },
  };
}

const isWebSocket = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === "websocket";
// Other upgrades (curl offers h2c) are ignored and answered as plain requests.
const serverOptions = { ...limits, shouldUpgradeCallback: isWebSocket };

function serve(server: Server, dispatch: Dispatch, listener: () => Listener, running: Set<ServerResponse>): Server {
  const handle = (request: IncomingMessage, response: ServerResponse, proceed: () => void): void => {
    const at = listener();
    const answered = at.via === "tcp" ? at.strangers.asks(request.socket) : null;
    running.add(response);
    response.once("close", () => {
      running.delete(response);
      answered?.();
    });
    void dispatch(request, response, at, proceed);
  };
  server.on("request", (request, response) => handle(request, response, () => undefined));
  // Without this Node would ask for the body before the headers were checked.
  server.on("checkContinue", (request, response) => handle(request, response, () => response.writeContinue()));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else refuseUpgrade(socket, unreadable(error));
  });
  return server;
}

function unreadable(error: NodeJS.ErrnoException): Refusal {
  if (error.code === "HPE_HEADER_OVERFLOW") {
    return new Refusal("too-large", `The headers are larger than ${limits.maxHeaderSize} bytes.`, { status: 431 });
  }
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new Refusal("invalid", "The request took too long to arrive.", { status: 408 });
  }
  return new Refusal("invalid", "This is not an HTTP request.");
}

async function closeAll(servers: Server[], lines: { close(): void; terminate(): void }[]): Promise<void> {
  for (const line of lines) line.close();
  const closed = servers.map(
    (server) =>
      new Promise<void>((resolve) => {
        if (server.listening) server.close(() => resolve());
        else resolve();
        server.closeIdleConnections();
      }),
  );
  const cut = setTimeout(() => {
    for (const line of lines) line.terminate();
    for (const server of servers) server.closeAllConnections();
  }, graceMs);
  await Promise.all(closed);
  clearTimeout(cut);
}
