/** Operations that the server handles itself: devices and logins, the API description, server-sent events. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { DeviceJson } from "../contract/device.ts";
import type { Output } from "../contract/operations.ts";
import type { ApiRequest, ServerOperation } from "../ports/api.ts";
import type { Access, Bearer, From } from "./access.ts";
import { idOf, type Device } from "./devices.ts";
import { eventStreamSink, type Followers } from "./followers.ts";
import { checkRight } from "./gate.ts";
import { Refusal } from "./response.ts";
import { readCursor } from "./router.ts";
import type { TerminalSockets } from "./terminals.ts";

/** What these operations know of the connection besides the request. */
export interface Connection {
  bearer: Bearer | null;
  from: From;
  /** Throws once the caller may no longer follow. */
  recheck: () => void;
  request: IncomingMessage;
  response: ServerResponse;
}

/** They write their response themselves. */
type Streaming = "stream" | "sse" | "terminal";

type Handle<N extends ServerOperation> = (
  request: ApiRequest<N>,
  connection: Connection,
) => N extends Streaming ? void : Output<N> | Promise<Output<N>>;

export type OwnOperations = { [N in ServerOperation]: Handle<N> };

export interface OwnServices {
  access: Access;
  followers: Followers;
  terminals: Pick<TerminalSockets, "drop">;
  version: string;
  build: string;
  onRevoked?: (devices: readonly string[] | null) => Promise<void>;
  onNewDevice?: (device: DeviceJson) => void;
  /** The dashboard's URL; null while the daemon listens on its socket only. */
  url: () => string | null;
}

export function createOwnOperations(services: OwnServices): OwnOperations {
  const { access, followers, terminals, url, version, build } = services;
  let description: Output<"openapi"> | undefined;

  const drop = (picks: (bearer: Bearer | null) => boolean): void => {
    followers.drop(picks);
    terminals.drop(picks);
  };
  const isDevice = (id: string) => (bearer: Bearer | null) => bearer?.bearer === "device" && bearer.id === id;

  const revoke = async (id: string): Promise<Device> => {
    const device = await access.revoke(id);
    if (device === null) throw unknown(id);
    drop(isDevice(id));
    await services.onRevoked?.([id]);
    followers.reportDevices(null);
    return device;
  };

  return {
    openapi: async () => (description ??= await (await import("./openapi.ts")).describeApi({ version, build })),

    challenge: () => access.challenge(),

    login: async ({ input }, { from }) => {
      const others = access.devices.list().length > 0;
      const before = access.devices.get(idOf(input.publicKey))?.rights;
      const { device, isNew } = await access.login(input, from);
      // Its open pages still have the previous rights.
      if (before !== undefined && before !== device.rights) drop(isDevice(device.id));
      followers.reportDevices(isNew ? deviceJson(device, null) : null);
      if (isNew && others) services.onNewDevice?.(deviceJson(device, null));
      return { device: deviceJson(device, device.id) };
    },

    loginLink: ({ input }) => {
      const at = url();
      if (at === null) {
        throw new Refusal("conflict", "This daemon listens on its socket only; browsers cannot reach it.");
      }
      const { expiresAt, ...link } = access.issueLink(at, input);
      return { ...link, expiresAt: iso(expiresAt) };
    },

    logout: async ({ input }, { bearer }) => {
      if (input.all === true) {
        checkRight(bearer, "all", "logging out all devices");
        const revoked = await access.revokeAll();
        drop((each) => each?.bearer === "device");
        await services.onRevoked?.(null);
        return { revoked: revoked.length };
      }
      if (bearer?.bearer !== "device") {
        throw new Refusal("invalid", "Only a device can log itself out.", {
          hint: 'Send {"all": true} to log out every device.',
        });
      }
      await revoke(bearer.id);
      return { revoked: 1 };
    },

    devices: (_, { bearer }) => access.devices.list().map((device) => deviceJson(device, deviceId(bearer))),

    deviceEdit: async ({ params: { id }, input }, { bearer }) => {
      const before = access.devices.get(id);
      const device = await access.devices.edit(id, input);
      if (before === null || device === null) throw unknown(id);
      // Its open connections have the previous rights; it reconnects with the new ones.
      if (device.rights !== before.rights) drop(isDevice(id));
      followers.reportDevices(null);
      return deviceJson(device, deviceId(bearer));
    },

    deviceRevoke: async ({ params }, { bearer }) => deviceJson(await revoke(params.id), deviceId(bearer)),

    tokenRotate: () => {
      const file = access.rotateToken();
      drop((bearer) => bearer?.bearer === "main");
      return { file };
    },

    stream: () => {
      throw new Refusal("usage", "This address requires a WebSocket.", {
        hint: "GET /api/events sends the same frames as server-sent events.",
      });
    },

    terminal: () => {
      throw new Refusal("usage", "This address requires a WebSocket.");
    },

    sse: ({ query }, { request, response, bearer, recheck }) => {
      // A reconnecting EventSource repeats its first address; its current position is in the header.
      const last = request.headers["last-event-id"];
      const after = typeof last === "string" && /^\d+$/.test(last) ? readCursor(last) : readCursor(query.after);
      const sink = eventStreamSink(response);
      if (request.method === "HEAD") {
        response.end();
        return;
      }
      const follower = followers.add(sink, { after, session: query.session, bearer, recheck });
      response.on("close", () => follower.remove());
    },
  };
}

function deviceId(bearer: Bearer | null): string | null {
  return bearer?.bearer === "device" ? bearer.id : null;
}

function deviceJson(device: Device, asking: string | null): DeviceJson {
  const { id, name, rights, createdAt, lastSeenAt, lastAddress, origin } = device;
  return {
    id,
    name,
    rights,
    createdAt: iso(createdAt),
    lastSeen: iso(lastSeenAt),
    lastAddress,
    origin,
    isYou: id === asking,
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function unknown(id: string): Refusal {
  return new Refusal("not-found", `Device not found: ${id.slice(0, 32)}.`, {
    hint: "List devices: holdfast device ls",
  });
}
