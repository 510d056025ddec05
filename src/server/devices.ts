/**
 * Browsers that are logged in. Each has its own key pair, whose private half never leaves the browser: nothing stored here
 * grants access.
 */
import { createPublicKey, hash, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { requestText, type DeviceProof } from "../contract/device-proof.ts";
import type { Right } from "../contract/rights.ts";
import type { Settings } from "./lockout.ts";
import { Refusal } from "./response.ts";

const key = "access.devices";
/** Tokens of the build before devices, which no longer grant access. */
const oldKey = "access.browserTokens";
const dayMs = 24 * 3_600_000;
const unusedMs = 30 * dayMs;
/** How exact `lastSeenAt` is; on disk it may lag by an hour, so that requests need no commit. */
const seenMs = 60_000;
const saveMs = 3_600_000;
/** Far more browsers than one user has; beyond it the least recently used is removed. */
const maxDevices = 100;
const pointBytes = 65;
const coordinateBytes = 32;

export interface Device {
  id: string;
  publicKey: string;
  /** Its key exists for this page only. */
  origin: string;
  name: string;
  rights: Right;
  createdAt: number;
  lastSeenAt: number;
  lastAddress: string | null;
}

export type NewDevice = Pick<Device, "publicKey" | "origin" | "name" | "rights"> & { address: string | null };

export function createDevices(settings: Settings, now: () => number, warn: (message: string, cause: unknown) => void) {
  // Read at the first use: most starts of a daemon see no browser.
  let kept: Map<string, Device> | undefined;
  const all = (): Map<string, Device> => (kept ??= read(settings));
  const keys = new Map<string, KeyObject>();
  let savedAt = -Infinity;
  let saving: Promise<void> = Promise.resolve();
  const isFresh = ({ lastSeenAt }: Device): boolean => now() - lastSeenAt < unusedMs;

  /** A change that cannot be written to disk does not happen. */
  const change = async (next: Map<string, Device>): Promise<void> => {
    const before = all();
    kept = next;
    savedAt = now();
    try {
      await settings.put(key, next.size === 0 ? null : JSON.stringify([...next.values()]));
      if (settings.get(oldKey) !== null) await settings.put(oldKey, null);
    } catch (error) {
      if (kept === next) kept = before;
      throw error;
    }
  };

  return {
    list: (): Device[] => [...all().values()].filter(isFresh).toSorted((a, b) => b.lastSeenAt - a.lastSeenAt),
    /** Null if it is unknown, or was not used for too long. */
    get: (id: string): Device | null => {
      const device = all().get(id);
      return device !== undefined && isFresh(device) ? device : null;
    },
    /** A browser that logs in again keeps its name, and gets the rights of its new link. */
    enroll: async ({ publicKey, origin, name, rights, address }: NewDevice) => {
      const id = idOf(publicKey);
      const known = all().get(id);
      if (known !== undefined && known.publicKey !== publicKey) {
        throw new Refusal("conflict", "Another device has this id.", { hint: "Log in again for a new key." });
      }
      keys.set(id, keyOf(publicKey));
      const isNew = known === undefined || !isFresh(known);
      const device: Device = {
        id,
        publicKey,
        origin,
        name: isNew ? plainName(name) : known.name,
        rights,
        createdAt: isNew ? now() : known.createdAt,
        lastSeenAt: now(),
        lastAddress: address,
      };
      const next = new Map([...all()].filter(([, each]) => each.id !== id && isFresh(each)));
      while (next.size >= maxDevices) next.delete(leastUsed(next).id);
      next.set(id, device);
      await change(next);
      return { device, isNew };
    },
    edit: async (id: string, { name, rights }: { name?: string | undefined; rights?: Right | undefined }) => {
      const device = all().get(id);
      if (device === undefined) return null;
      const edited = {
        ...device,
        name: name === undefined ? device.name : plainName(name),
        rights: rights ?? device.rights,
      };
      await change(new Map(all()).set(id, edited));
      return edited;
    },
    revoke: async (id: string): Promise<Device | null> => {
      const device = all().get(id);
      if (device === undefined) return null;
      const next = new Map(all());
      next.delete(id);
      await change(next);
      keys.delete(id);
      return device;
    },
    revokeAll: async (): Promise<Device[]> => {
      const revoked = [...all().values()];
      await change(new Map());
      keys.clear();
      return revoked;
    },
    /** Whether the device signed exactly this request. */
    verify: (device: Device, proof: DeviceProof, request: { method: string; path: string }): boolean => {
      let publicKey = keys.get(device.id);
      if (publicKey === undefined) keys.set(device.id, (publicKey = keyOf(device.publicKey)));
      const text = Buffer.from(requestText(proof, { ...request, origin: device.origin }));
      const signature = Buffer.from(proof.signature, "base64url");
      return verify("sha256", text, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature);
    },
    seen: (device: Device, address: string | null): void => {
      if (now() - device.lastSeenAt < seenMs && device.lastAddress === address) return;
      device.lastSeenAt = now();
      device.lastAddress = address;
      if (now() - savedAt < saveMs) return;
      saving = change(all()).catch((error: unknown) => warn("could not record the use of a device", error));
    },
    settled: (): Promise<void> => saving,
  };
}

/** The browser derives it as well; the key cannot be derived from it. */
export function idOf(publicKey: string): string {
  return hash("sha256", publicKey, "hex").slice(0, 16);
}

/** It is shown in terminals and pages, and the browser chose it. */
function plainName(name: string): string {
  return name.replaceAll(/[\p{C}\s]+/gu, " ").trim() || "A browser";
}

/** Throws if it is not a point on the curve. */
function keyOf(publicKey: string): KeyObject {
  const point = Buffer.from(publicKey, "base64url");
  if (point.length !== pointBytes || point[0] !== 4) throw notAKey();
  const [x, y] = [point.subarray(1, 1 + coordinateBytes), point.subarray(1 + coordinateBytes)];
  const jwk = { kty: "EC", crv: "P-256", x: x.toString("base64url"), y: y.toString("base64url") };
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch (cause) {
    throw notAKey(cause);
  }
}

function notAKey(cause?: unknown): Refusal {
  return new Refusal("invalid", "publicKey must be an uncompressed point on P-256, base64url.", { cause });
}

function leastUsed(devices: Map<string, Device>): Device {
  return [...devices.values()].reduce((oldest, each) => (each.lastSeenAt < oldest.lastSeenAt ? each : oldest));
}

function read(settings: Settings): Map<string, Device> {
  const list = JSON.parse(settings.get(key) ?? "[]") as Device[];
  return new Map(list.map((device) => [device.id, device]));
}
