/** Logging in and out, and the list of devices. */
import type { OwnRoute } from "../ports/api.ts";
import type { DeviceRequest, LoginLinkRequest, LoginRequest } from "../contract/command.ts";
import type { DeviceJson } from "../contract/wire.ts";
import type { Bearer } from "./access.ts";
import { sendJson } from "./answer.ts";
import { idOf, type Device } from "./devices.ts";
import { checkRight } from "./gate.ts";
import type { OwnParts, OwnRoutes } from "./own-routes.ts";
import { Refusal } from "./refusal.ts";

type DeviceRoute = Extract<
  OwnRoute,
  "challenge" | "login" | "loginLink" | "logout" | "devices" | "deviceEdit" | "deviceRevoke" | "tokenRotate"
>;

export function createDeviceRoutes(parts: OwnParts): Pick<OwnRoutes, DeviceRoute> {
  const { access, followers, terminals, url } = parts;

  const drop = (picks: (bearer: Bearer | null) => boolean): void => {
    followers.drop(picks);
    terminals.drop(picks);
  };
  const isDevice = (id: string) => (bearer: Bearer | null) => bearer?.bearer === "device" && bearer.id === id;

  const revoke = async (id: string): Promise<Device> => {
    const device = await access.revoke(id);
    if (device === null) throw unknown(id);
    drop(isDevice(id));
    await parts.onRevoked?.([id]);
    followers.tellDevices(null);
    return device;
  };

  return {
    challenge: ({ response }) => sendJson(response, access.challenge()),

    login: async ({ body, from, response }) => {
      const request = body as LoginRequest;
      const others = access.devices.list().length > 0;
      const before = access.devices.get(idOf(request.publicKey))?.rights;
      const { device, isNew } = await access.login(request, from);
      // Its pages that are open have the rights of before.
      if (before !== undefined && before !== device.rights) drop(isDevice(device.id));
      followers.tellDevices(isNew ? deviceJson(device, null) : null);
      if (isNew && others) parts.onNewDevice?.(deviceJson(device, null));
      sendJson(response, { device: deviceJson(device, device.id) });
    },

    loginLink: ({ body, response }) => {
      const at = url();
      if (at === null) {
        throw new Refusal("conflict", "This daemon listens on its socket only; no browser can reach it.");
      }
      const { expiresAt, ...link } = access.issueLink(at, body as LoginLinkRequest);
      sendJson(response, { ...link, expiresAt: iso(expiresAt) });
    },

    logout: async ({ body, bearer, response }) => {
      const { all } = body as { all?: boolean };
      if (all === true) {
        checkRight(bearer, "all", "logging everybody out");
        const revoked = await access.revokeAll();
        drop((each) => each?.bearer === "device");
        await parts.onRevoked?.(null);
        sendJson(response, { revoked: revoked.length });
        return;
      }
      if (bearer?.bearer !== "device") {
        throw new Refusal("invalid", "Only a device can log itself out.", {
          hint: 'Send {"all": true} to log every device out.',
        });
      }
      await revoke(bearer.id);
      sendJson(response, { revoked: 1 });
    },

    devices: ({ bearer, response }) => {
      const asking = bearer?.bearer === "device" ? bearer.id : null;
      sendJson(
        response,
        access.devices.list().map((device) => deviceJson(device, asking)),
      );
    },

    deviceEdit: async ({ params, body, bearer, response }) => {
      const id = params["id"] ?? "";
      const change = body as DeviceRequest;
      const before = access.devices.get(id);
      const device = await access.devices.edit(id, change);
      if (before === null || device === null) throw unknown(id);
      // What is open has the rights of before: it comes back with the new ones.
      if (device.rights !== before.rights) drop(isDevice(id));
      followers.tellDevices(null);
      sendJson(response, deviceJson(device, bearer?.bearer === "device" ? bearer.id : null));
    },

    deviceRevoke: async ({ params, bearer, response }) => {
      const device = await revoke(params["id"] ?? "");
      sendJson(response, deviceJson(device, bearer?.bearer === "device" ? bearer.id : null));
    },

    tokenRotate: ({ response }) => {
      const file = access.rotateToken();
      drop((bearer) => bearer?.bearer === "main");
      sendJson(response, { file });
    },
  };
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
  return new Refusal("not-found", `No device ${id.slice(0, 32)} is logged in.`, {
    hint: "Run `holdfast device ls` for those that are.",
  });
}
