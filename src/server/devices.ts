/**
 * Browsers that are logged in. Each has a key pair of its own; its private half never leaves the browser, so nothing that
 * is kept here lets anybody in.
 */
import type { KeyObject } from "node:crypto";
import { crypto } from "../base/digest.ts";
import { requestText, type DeviceProof } from "../contract/device-proof.ts";
import type { Right } from "../contract/rights.ts";
import type { Settings } from "./lockout.ts";
import { Refusal } from "./response.ts";

const key = "access.devices";
/** Of the build before devices: these tokens let nobody in any more. */
const oldKey = "access.browserTokens";
const dayMs = 24 * 3_600_000;
const unusedMs = 30 * dayMs;
/** How exact `lastSeenAt` is; on disk it may lag by an hour, so that requests cost no commit. */
const seenMs = 60_000;
const saveMs = 3_600_000;
/** Far more browsers than one person has; the one unused for longest goes. */
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

export interface Devices {
  list(): Device[];
  /** Null where it is not known, or was not used for too long. */
  get(id: string): Device | null;
  /** A browser that logs in again keeps its name, and gets the rights of the link it came by. */
  enroll(given: NewDevice): Promise<{ device: Device; isNew: boolean }>;
  edit(id: string, change: { name?: string | undefined; rights?: Right | undefined }): Promise<Device | null>;
  revoke(id: string): Promise<Device | null>;
  revokeAll(): Promise<Device[]>;
  /** Whether the device signed exactly this. */
  verify(device: Device, proof: DeviceProof, asked: { method: string; path: string }): boolean;
  seen(device: Device, address: string | null): void;
  settled(): Promise<void>;
}

export function createDevices(
  settings: Settings,
  now: () => number,
  warn: (message: string, cause: unknown) => void,
): Devices {
  // Read at the first use: most starts of a daemon see no browser.
  let kept: Map<string, Device> | undefined;
  const all = (): Map<string, Device> => (kept ??= read(settings));
  const keys = new Map<string, KeyObject>();
  let savedAt = -Infinity;
  let saving: Promise<void> = Promise.resolve();
  const isFresh = ({ lastSeenAt }: Device): boolean => now() - lastSeenAt < unusedMs;

  /** Nothing changes unless it is on disk. */
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
    list: () => [...all().values()].filter(isFresh).toSorted((a, b) => b.lastSeenAt - a.lastSeenAt),
    get: (id) => {
      const device = all().get(id);
      return device !== undefined && isFresh(device) ? device : null;
    },
    enroll: async ({ publicKey, origin, name, rights, address }) => {
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
    edit: async (id, { name, rights }) => {
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
    revoke: async (id) => {
      const device = all().get(id);
      if (device === undefined) return null;
      const next = new Map(all());
      next.delete(id);
      await change(next);
      keys.delete(id);
      return device;
    },
    revokeAll: async () => {
      const revoked = [...all().values()];
      await change(new Map());
      keys.clear();
      return revoked;
    },
    verify: (device, proof, asked) => {
      let publicKey = keys.get(device.id);
      if (publicKey === undefined) keys.set(device.id, (publicKey = keyOf(device.publicKey)));
      const text = Buffer.from(requestText(proof, { ...asked, origin: device.origin }));
      const signature = Buffer.from(proof.signature, "base64url");
      return crypto().verify("sha256", text, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature);
    },
    seen: (device, address) => {
      if (now() - device.lastSeenAt < seenMs && device.lastAddress === address) return;
      device.lastSeenAt = now();
      device.lastAddress = address;
      if (now() - savedAt < saveMs) return;
      saving = change(all()).catch((error: unknown) => warn("the use of a device was not written down", error));
    },
    settled: () => saving,
  };
}

/** The browser works it out as well; nobody learns the key from it. */
export function idOf(publicKey: string): string {
  return crypto().hash("sha256", publicKey, "hex").slice(0, 16);
}

/** It is shown in terminals and pages, and the browser chose it. */
function plainName(name: string): string {
  return name.replaceAll(/[\p{C}\s]+/gu, " ").trim() || "A browser";
}

/** Throws where it is no point on the curve. */
function keyOf(publicKey: string): KeyObject {
  const point = Buffer.from(publicKey, "base64url");
  if (point.length !== pointBytes || point[0] !== 4) throw notAKey();
  const [x, y] = [point.subarray(1, 1 + coordinateBytes), point.subarray(1 + coordinateBytes)];
  const jwk = { kty: "EC", crv: "P-256", x: x.toString("base64url"), y: y.toString("base64url") };
  try {
    return crypto().createPublicKey({ key: jwk, format: "jwk" });
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
