/** Turns a request for `/api/stream` or a terminal into a WebSocket, behind the same gate as everything else. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { Guard, Logger } from "../ports/api.ts";
import { streamProtocol } from "../contract/http.ts";
import type { Access } from "./access.ts";
import { refuseUpgrade } from "./answer.ts";
import type { Followers } from "./followers.ts";
import { checkAddress, checkRoute, checkToken, type Door, type Who } from "./gate.ts";
import { HoldfastError } from "../contract/error.ts";
import { readCursor, splitUrl } from "./request-parts.ts";
import { readQuery, type FindRoute } from "./router.ts";
import { Refusal } from "./refusal.ts";
import { webSocketSink } from "./stream-sinks.ts";
import { readTerminalAsk, type TerminalSockets } from "./terminals.ts";

/** Followers have nothing to say but "ping"; more is a mistake. */
const maxMessageBytes = 1024;
/** A pasted text comes in pieces of this size. */
const maxTypedBytes = 64 * 1024;

export interface UpgradeParts {
  access: Access;
  who: Who;
  guard: Guard;
  followers: Followers;
  terminals: TerminalSockets;
  findRoute: FindRoute;
  log: Logger;
}

export function createUpgrade({ access, who, guard, followers, terminals, findRoute, log }: UpgradeParts) {
  // 20 ms to load and nothing a CLI ever needs: it waits for the first browser.
  const servers = new Map<number, Promise<WebSocketServer>>();
  const load = async (maxPayload: number): Promise<WebSocketServer> => {
    const { WebSocketServer } = await import("ws");
    return new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload,
      // The subprotocol with the proof is never the one that is chosen, so it is not sent back.
      handleProtocols: (offered) => (offered.has(streamProtocol) ? streamProtocol : false),
    });
  };

  const accept = async (
    upgrade: { request: IncomingMessage; socket: Duplex; head: Buffer },
    maxPayload: number,
    use: (webSocket: WebSocket) => void,
  ): Promise<void> => {
    const server = servers.get(maxPayload) ?? load(maxPayload);
    servers.set(maxPayload, server);
    (await server).handleUpgrade(upgrade.request, upgrade.socket, upgrade.head, use);
  };

  return async (request: IncomingMessage, socket: Duplex, head: Buffer, door: Door): Promise<void> => {
    // Node has let go of the socket: an error without a listener would end the daemon.
    socket.on("error", () => socket.destroy());
    try {
      checkAddress(request, door);
      const { path, search } = splitUrl(request);
      const bearer = checkToken(request, door, access, true);
      if (door.via === "tcp") door.strangers.proven(request.socket);
      const { name, route, params } = findRoute("GET", path);
      checkRoute(bearer, name);
      const query = readQuery(route, search);
      const parts = { request, socket, head };
      if (name === "terminal") {
        // An agent messages others by prompts, which are on record; keys are a person's.
        if (who.actor(request, door, bearer) !== "person")
          throw new Refusal("forbidden", "A terminal is for a person to use.");
        const ask = readTerminalAsk(params["id"] ?? "", query, bearer);
        return await accept(parts, maxTypedBytes, (webSocket) => terminals.add(webSocket, ask));
      }
      if (name !== "stream") {
        throw new Refusal("invalid", "Only /api/stream and a session's terminal can become a WebSocket.");
      }
      guard(name, { actor: who.actor(request, door, bearer), query });
      const after = readCursor(query["after"]);
      const still = (): void => void who.actor(request, door, bearer);
      await accept(parts, maxMessageBytes, (webSocket) => {
        const follower = followers.add(webSocketSink(webSocket), { after, session: query["session"], bearer, still });
        webSocket.on("close", () => follower.remove());
        webSocket.on("error", () => webSocket.terminate());
        // A browser cannot see protocol pings: it asks, and knows by the answer that the line still lives.
        webSocket.on("message", () => {
          if (webSocket.bufferedAmount === 0) follower.hello();
        });
      });
    } catch (error) {
      if (!(error instanceof HoldfastError)) log.error("an upgrade failed", { cause: String(error) });
      refuseUpgrade(socket, error);
    }
  };
}
