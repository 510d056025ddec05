/**
 * The home's push key and the browsers that subscribed for it, in one file that is whole or not there: without the key
 * the subscriptions are worth nothing. Each is the right to call that browser, so the file is the person's alone.
 */
import { chmodSync, statSync } from "node:fs";
import { readJson, writeDurable } from "../../base/durable-file.ts";
import { isVapidKey, makeVapidKey, type VapidKey } from "./web-push-vapid.ts";

export interface Subscription {
  /** Says which browser, and not where it is reached. */
  id: string;
  label: string;
  endpoint: string;
  keys: { p256dh: string; auth: string };
  /** Where the dashboard was when it subscribed. */
  origin?: string | undefined;
  createdAt: number;
  /** Left out in files of an earlier version. */
  device?: string | null;
}

export interface PushFile {
  key: VapidKey;
  subscriptions: Subscription[];
}

/** Null where there is none; `damaged` loses the subscriptions, and browsers can make new ones. */
export function readPushFile(path: string): PushFile | null | { damaged: string } {
  const read = readJson(path);
  if (read.is === "absent") return null;
  if (read.is === "damaged") return { damaged: read.why };
  const { key, subscriptions } = (read.value ?? {}) as Partial<PushFile>;
  if (!isVapidKey(key)) return { damaged: "it holds no key" };
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  return { key, subscriptions: Array.isArray(subscriptions) ? subscriptions.filter(isSubscription) : [] };
}

export function emptyPushFile(): PushFile {
  return { key: makeVapidKey(), subscriptions: [] };
}

export function writePushFile(path: string, file: PushFile): void {
  writeDurable(path, `${JSON.stringify(file)}\n`);
}

function isSubscription(value: unknown): value is Subscription {
  const { id, label, endpoint, keys, createdAt } = (value ?? {}) as Partial<Subscription>;
  const texts = [id, label, endpoint, keys?.p256dh, keys?.auth];
  return texts.every((text) => typeof text === "string") && typeof createdAt === "number";
}
