/** Routes that need nothing of the daemon: following by server-sent events, the API's description; devices are in device-routes.ts. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Ask, OwnRoute } from "../ports/api.ts";
import type { DeviceJson } from "../contract/wire.ts";
import type { Access, Bearer, From } from "./access.ts";
import { createDeviceRoutes } from "./device-routes.ts";
import type { Followers } from "./followers.ts";
import { apiHeaders } from "./headers.ts";
import { Refusal } from "./refusal.ts";
import { readCursor } from "./request-parts.ts";
import { eventStreamSink } from "./stream-sinks.ts";
import type { TerminalSockets } from "./terminals.ts";

export interface OwnAsk extends Ask {
  bearer: Bearer | null;
  from: From;
  /** Throws once whoever asked may not follow any more. */
  still: () => void;
  request: IncomingMessage;
  response: ServerResponse;
}

export type OwnRoutes = { [R in OwnRoute]: (ask: OwnAsk) => Promise<void> | void };

export interface OwnParts {
  access: Access;
  followers: Followers;
  terminals: Pick<TerminalSockets, "drop">;
  version: string;
  build: string;
  onRevoked?: (devices: readonly string[] | null) => Promise<void>;
  onNewDevice?: (device: DeviceJson) => void;
  /** Where a browser finds this daemon; null while it listens on its socket only. */
  url: () => string | null;
}

export function createOwnRoutes(parts: OwnParts): OwnRoutes {
  const { followers, version, build } = parts;
  let description: string | undefined;
  return {
    ...createDeviceRoutes(parts),

    openapi: async ({ response }) => {
      if (description === undefined) {
        const { describeApi } = await import("./openapi.ts");
        description = JSON.stringify(describeApi({ version, build }));
      }
      response.writeHead(200, { ...apiHeaders, "Content-Length": Buffer.byteLength(description) });
      response.end(description);
    },

    stream: () => {
      throw new Refusal("usage", "This address speaks WebSocket.", {
        hint: "GET /api/events gives the same as server-sent events.",
      });
    },

    terminal: () => {
      throw new Refusal("usage", "This address speaks WebSocket.");
    },

    sse: ({ request, query, response, bearer, still }) => {
      // A reconnecting EventSource repeats its first address; where it stands now is in the header.
      const last = request.headers["last-event-id"];
      const after = typeof last === "string" && /^\d+$/.test(last) ? readCursor(last) : readCursor(query["after"]);
      const sink = eventStreamSink(response);
      if (request.method === "HEAD") {
        response.end();
        return;
      }
      const follower = followers.add(sink, { after, session: query["session"], bearer, still });
      response.on("close", () => follower.remove());
    },
  };
}
