/** Turns a request for `/api/stream` or a terminal into a WebSocket, behind the same gate as everything else. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { Authorize, Logger } from "../ports/api.ts";
import { streamProtocol } from "../contract/stream.ts";
import type { Access } from "./access.ts";
import { refuseUpgrade, Refusal } from "./response.ts";
import { type Followers, webSocketSink } from "./followers.ts";
import { checkAddress, checkOperation, checkToken, type Listener, type Who } from "./gate.ts";
import { HoldfastError } from "../contract/errors.ts";
import { readCursor, splitUrl, readQuery, type FindOperation } from "./router.ts";
import { readViewerRequest, type TerminalSockets } from "./terminals.ts";

/** Followers have nothing to say but "ping"; more is a mistake. */
const maxMessageBytes = 1024;
/** A pasted text comes in pieces of this size. */
const maxTypedBytes = 64 * 1024;

export interface UpgradeServices {
  access: Access;
  who: Who;
  authorize: Authorize;
  followers: Followers;
  terminals: TerminalSockets;
  findOperation: FindOperation;
  log: Logger;
}

export function createUpgrade({ access, who, authorize, followers, terminals, findOperation, log }: UpgradeServices) {
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

  return async (request: IncomingMessage, socket: Duplex, head: Buffer, listener: Listener): Promise<void> => {
    // Node has let go of the socket: an error without a listener would end the daemon.
    socket.on("error", () => socket.destroy());
    try {
      checkAddress(request, listener);
      const { path, search } = splitUrl(request);
      const bearer = checkToken(request, listener, access, true);
      if (listener.via === "tcp") listener.strangers.proven(request.socket);
      const { name, operation, params } = findOperation("GET", path);
      checkOperation(bearer, operation);
      const query = readQuery(operation, search);
      const upgrade = { request, socket, head };
      if (name === "terminal") {
        // Agents message each other by prompts, which are recorded; keystrokes are not.
        if (who.actor(request, listener, bearer) !== "person")
          throw new Refusal("forbidden", "Agents cannot open terminals.");
        const viewer = readViewerRequest(params["id"] ?? "", query, bearer);
        return await accept(upgrade, maxTypedBytes, (webSocket) => terminals.add(webSocket, viewer));
      }
      if (name !== "stream") {
        throw new Refusal("invalid", "Only /api/stream and a session's terminal can become a WebSocket.");
      }
      authorize({ name, actor: who.actor(request, listener, bearer), params: {}, query, input: undefined });
      const after = readCursor(query["after"]);
      const recheck = (): void => void who.actor(request, listener, bearer);
      await accept(upgrade, maxMessageBytes, (webSocket) => {
        const follower = followers.add(webSocketSink(webSocket), { after, session: query["session"], bearer, recheck });
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
