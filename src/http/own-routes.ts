/** Routes that need nothing of the daemon: logging in, following by server-sent events, the API's description. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Ask, OwnRoute } from "../ports/commands.ts";
import type { Access, Bearer } from "./access.ts";
import { sendJson } from "./answer.ts";
import type { Followers } from "./followers.ts";
import { apiHeaders } from "./headers.ts";
import { Refusal } from "./refusal.ts";
import { readCursor } from "./request-parts.ts";
import { eventStreamSink } from "./stream-sinks.ts";
import type { TerminalSockets } from "./terminals.ts";

export interface OwnAsk extends Ask {
  bearer: Bearer | null;
  request: IncomingMessage;
  response: ServerResponse;
}

export type OwnRoutes = { [R in OwnRoute]: (ask: OwnAsk) => Promise<void> | void };

export interface OwnParts {
  access: Access;
  followers: Followers;
  terminals: Pick<TerminalSockets, "dropBrowsers">;
  version: string;
  build: string;
  onAllLoggedOut?: () => Promise<void>;
  /** Where a browser finds this daemon; null while it listens on its socket only. */
  url: () => string | null;
}

export function createOwnRoutes(parts: OwnParts): OwnRoutes {
  const { access, followers, terminals, version, build, url } = parts;
  let description: string | undefined;
  return {
    login: async ({ body, response }) => {
      const token = await access.login(body as { code?: string; passphrase?: string });
      sendJson(response, { token });
    },

    loginLink: ({ response }) => {
      const at = url();
      if (at === null)
        throw new Refusal("conflict", "This daemon listens on its socket only; no browser can reach it.");
      const { code, expiresAt } = access.issueCode();
      // Behind the #, which no browser sends and no server logs.
      sendJson(response, { url: `${at}/#login=${code}`, expiresAt: new Date(expiresAt).toISOString() });
    },

    logout: async ({ body, bearer, response }) => {
      const { all } = body as { all?: boolean };
      if (all === true) {
        const revoked = await access.revokeAll();
        followers.dropBrowsers(null);
        terminals.dropBrowsers(null);
        await parts.onAllLoggedOut?.();
        sendJson(response, { revoked });
        return;
      }
      if (bearer?.bearer !== "browser") {
        throw new Refusal("invalid", "Only a browser's token can log itself out.", {
          hint: 'Send {"all": true} to revoke every browser\'s token.',
        });
      }
      const revoked = (await access.revoke(bearer.id)) ? 1 : 0;
      followers.dropBrowsers(bearer.id);
      terminals.dropBrowsers(bearer.id);
      sendJson(response, { revoked });
    },

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

    sse: ({ request, query, response, bearer }) => {
      // A reconnecting EventSource repeats its first address; where it stands now is in the header.
      const last = request.headers["last-event-id"];
      const after = typeof last === "string" && /^\d+$/.test(last) ? readCursor(last) : readCursor(query["after"]);
      const sink = eventStreamSink(response);
      if (request.method === "HEAD") {
        response.end();
        return;
      }
      const follower = followers.add(sink, { after, session: query["session"], bearer });
      response.on("close", () => follower.remove());
    },
  };
}
