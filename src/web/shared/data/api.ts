/** Calls to the daemon that served this page, signed with this browser's key. */
import { createClient, pathOf, type CallableOperation, type CallOptions, type Client } from "../../../client/client.ts";
import { createFetchTransport } from "../../../client/fetch-transport.ts";
import { createSigner } from "../../../client/signer.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { operations } from "../../../contract/operations.ts";
import type { Output } from "../../../contract/operations.ts";
import { deleteKey, deviceKey, hasOtherKey } from "./device-key.ts";
import { live } from "./live.ts";

const send = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);
const unsigned = createClient({ transport: createFetchTransport("", send) });
const signer = createSigner({
  key: deviceKey,
  origin: () => location.origin,
  challenge: () => unsigned.call("challenge"),
});
const client = createClient({ transport: createFetchTransport("", send, signer) });

/** For calls before a login. */
export const callUnsigned: Client["call"] = (route, options) => unsigned.call(route, options);
/** The WebSocket subprotocol that authenticates this page. */
export const prove = (path: string): Promise<string | null> => signer.protocolFor(path);

export const resetChallenge = (): void => signer.doubt();

export async function call<R extends CallableOperation>(route: R, options?: CallOptions<R>): Promise<Output<R>> {
  try {
    return await client.call(route, options);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "logged-out") await refused();
    throw error;
  }
}

async function refused(): Promise<void> {
  const used = (await deviceKey())?.id ?? null;
  // A late response must neither replace the reason for a logout, nor end a newer login.
  if (live.getState().login.is === "out" || (await hasOtherKey(used))) return;
  await logOut("This browser's login is no longer valid: it has expired or was revoked.");
}

/** An image of a prompt. An `<img>` cannot sign its request, so the bytes are fetched here. */
export async function fetchAttachment(
  params: { id: string; prompt: string; n: string },
  signal: AbortSignal,
): Promise<Blob> {
  const path = pathOf(operations.attachment, params, {});
  const fixed = { signal, redirect: "error", credentials: "omit", cache: "no-store" } as const;
  const response = await signer.send({ method: "GET", path, body: null }, (headers) =>
    send(path, { ...fixed, headers }),
  );
  if (!response.ok) throw new Error(`The daemon returned HTTP ${response.status}.`);
  return response.blob();
}

let channel: BroadcastChannel | undefined;

/** All tabs of this browser share its key and its storage. */
export function tabs(): BroadcastChannel {
  return (channel ??= new BroadcastChannel("holdfast"));
}

/** `device`: the one that was logged out; a tab that receives this late may have another one by then. */
export type TabMessage = { loggedOut: string; device: string | null; asked: boolean } | { loggedIn: true };

export function notifyTabs(message: TabMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
  tabs().postMessage(message);
}

/** `asked`: by the user, in this tab; its reason wins over the refusal that another tab received. */
export async function logOut(why: string, asked = false): Promise<void> {
  const device = (await deviceKey())?.id ?? null;
  leave(why);
  notifyTabs({ loggedOut: why, device, asked });
}

/** Logs this tab out. Its views close before the storage is cleared: they would save their state again. */
export function leave(why: string): void {
  live.setState({ login: { is: "out", why }, sessions: new Map(), loaded: false, device: null });
  setTimeout(() => void clearBrowser());
}

/** An error with its hint, in one line. */
export function sentenceOf(error: unknown): string {
  if (error instanceof HoldfastError) return [error.message, error.hint].filter(Boolean).join(" ");
  return error instanceof Error ? error.message : String(error);
}

/** Removes everything of Holdfast from this browser: after a logout, no transcript and no draft stays behind. */
async function clearBrowser(): Promise<void> {
  clearStorage();
  await Promise.allSettled([deleteKey(), clearCaches(), endPushes()]);
  // Views that were on screen may have saved their state while they closed.
  clearStorage();
  // A file that was still loading may have been cached meanwhile.
  await clearCaches().catch(() => undefined);
}

function clearStorage(): void {
  for (const area of [localStorage, sessionStorage]) {
    for (const key of Object.keys(area)) if (key.startsWith("holdfast:")) area.removeItem(key);
  }
}

async function clearCaches(): Promise<void> {
  if (!("caches" in globalThis)) return;
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith("holdfast")).map((name) => caches.delete(name)));
}

async function endPushes(): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await worker?.getNotifications?.()) ?? []) shown.close();
  await (await worker?.pushManager?.getSubscription())?.unsubscribe();
}
