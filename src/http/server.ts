/**
 * The API: a unix socket for the CLI and a TCP port for browsers, both answered by the protocol's route table. No
 * framework: see docs/decisions/0002. Owns its two servers and every follower, and closes them all within a second.
 */
import { chmodSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createServer } from "../base/node-http.ts";
import type { Guard, Handlers, Logger, Tail, Terminals } from "../ports/commands.ts";
import { HoldfastError } from "../protocol/error.ts";
import type { Access } from "./access.ts";
import { refuseUpgrade } from "./answer.ts";
import { promptLimitBytes } from "./body.ts";
import { createDispatch, type Dispatch } from "./dispatch.ts";
import { createFollowers } from "./followers.ts";
import type { Door } from "./gate.ts";
import { assertMayListen, createHosts } from "./hosts.ts";
import { createOwnRoutes } from "./own-routes.ts";
import { Refusal } from "./refusal.ts";
import { createRouter } from "./router.ts";
import { claimSocketPath } from "./socket-path.ts";
import { createTerminalSockets } from "./terminals.ts";
import { createUpgrade } from "./upgrade.ts";
import { listenOn, lookUpMs } from "./listen.ts";

/** Running requests get this long to finish when the daemon stops; then their connections are cut. */
const graceMs = 400;
const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  /** For the whole request to arrive, a 64 MiB prompt over a slow line included. */
  requestTimeout: 120_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 10_000,
  // Our own gate answers a missing Host, in our words.
  requireHostHeader: false,
};
/** Descriptors are shared with agents' files: strangers may not take them all. */
const maxConnections = 512;

export interface ApiOptions {
  handlers: Handlers;
  guard: Guard;
  tail: Tail;
  terminals: Terminals;
  access: Access;
  webDirectory: string | null;
  version: string;
  build: string;
  readOnly: boolean;
  mayHalt?: boolean;
  /** Every browser's token was revoked: what else browsers have is to go too. */
  onAllLoggedOut?: () => Promise<void>;
  log: Logger;
  bodyLimitBytes?: number;
  heartbeatMs?: number;
}

export interface Api {
  /** Again where the path was removed: the listener before is replaced, its connections stay. */
  listenSocket(path: string): Promise<void>;
  listenTcp(host: string, port: number): Promise<{ port: number; url: string }>;
  /** Ends every connection; safe to call twice. */
  close(): Promise<void>;
}

export function createApi(options: ApiOptions): Api {
  const { access, log } = options;
  const servers: Server[] = [];
  let socketServer: Server | null = null;
  const running = new Set<ServerResponse>();
  let url: string | null = null;
  let closing: Promise<void> | undefined;
  const followers = createFollowers(options.tail, log, options.heartbeatMs);
  const terminals = createTerminalSockets(options.terminals, options);
  const findRoute = createRouter();
  const own = createOwnRoutes({ ...options, followers, terminals, url: () => url });
  const dispatch = createDispatch({
    ...options,
    own,
    findRoute,
    bodyLimitBytes: options.bodyLimitBytes ?? promptLimitBytes,
  });
  const upgrade = createUpgrade({ ...options, followers, terminals, findRoute });

  const addServer = (door: () => Door): Server => {
    if (closing !== undefined) throw new Error("the API is closed");
    const server = createApiServer(dispatch, door, running);
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void upgrade(request, socket, head, door());
    });
    servers.push(server);
    return server;
  };

  return {
    listenSocket: async (path) => {
      // First: closing removes the path, whoever listens there by then.
      socketServer?.close();
      await claimSocketPath(path);
      const server = addServer(() => ({ via: "socket" }));
      socketServer = server;
      // Bound and listening when this returns; nothing can be accepted before the mode is set, in the same turn.
      const listening = untilListening(server, () => server.listen(path), path);
      if (server.listening) chmodSync(path, 0o600);
      await listening;
    },
    listenTcp: async (host, port) => {
      if (host === "") throw new HoldfastError("usage", "A host to listen on must be given.");
      assertMayListen(host, access.mode, access.hasPassphrase);
      let door: Door | null = null;
      const server = addServer(() => {
        if (door === null) throw new Error("a request came before the port was known");
        return door;
      });
      server.maxConnections = maxConnections;
      await untilListening(server, () => listenOn(server, host, port), `${host}:${port}`);
      const actual = (server.address() as AddressInfo).port;
      const hosts = createHosts(host, actual);
      door = { via: "tcp", hosts };
      url = hosts.url;
      return { port: actual, url: hosts.url };
    },
    close: () => {
      // Whoever waits for an answer is told with it that the connection ends; nobody sends more into it.
      for (const response of running) response.shouldKeepAlive = false;
      closing ??= closeAll(servers, [followers, terminals]);
      return closing;
    },
  };
}

function createApiServer(dispatch: Dispatch, door: () => Door, running: Set<ServerResponse>): Server {
  const isWebSocket = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === "websocket";
  // Other upgrades (curl offers h2c) are ignored and answered as plain requests.
  const server = createServer({ ...limits, shouldUpgradeCallback: isWebSocket });
  const handle = (request: IncomingMessage, response: ServerResponse, proceed: () => void): void => {
    running.add(response);
    response.once("close", () => running.delete(response));
    void dispatch(request, response, door(), proceed);
  };
  server.on("request", (request, response) => handle(request, response, () => undefined));
  // Without this Node would invite the body before anybody has looked at the headers.
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

function untilListening(server: Server, listen: () => void, where: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer);
      reject(cannotListen(error, where));
    };
    const timer = setTimeout(() => onError(new Error(`its address was not found in ${lookUpMs / 1000} s`)), lookUpMs);
    server.once("error", onError);
    server.once("listening", () => {
      clearTimeout(timer);
      server.off("error", onError);
      resolve();
    });
    try {
      listen();
    } catch (error) {
      onError(error as NodeJS.ErrnoException);
    }
  });
}

const listenTroubles: Record<string, string> = {
  EADDRNOTAVAIL: "this machine does not have that address",
  EACCES: "this user may not use that port",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host could not be looked up",
  ENETUNREACH: "this machine has no such network",
};

function cannotListen(error: NodeJS.ErrnoException, where: string): HoldfastError {
  if (error.code === "EADDRINUSE") {
    return new HoldfastError("conflict", `${where} is taken by another program.`, {
      hint: "Choose another with --port, or --port 0 for a free one.",
      cause: error,
    });
  }
  const why = listenTroubles[error.code ?? ""] ?? error.message;
  return new HoldfastError("conflict", `Cannot listen on ${where}: ${why}.`, {
    hint: "Choose another address with --host or --port, or leave them out.",
    cause: error,
  });
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
