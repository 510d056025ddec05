/** Takes everything of Holdfast out of this browser: who is logged out leaves no transcript and no draft behind. */
import { forgetKey } from "./device-key.ts";

const prefix = "holdfast";

/** What fails is left: there is no more that could be done about it here. */
export async function forgetEverything(): Promise<void> {
  clearStorage();
  await Promise.allSettled([forgetKey(), clearCaches(), endPushes()]);
  // What was on screen has let go by now, and may have saved itself when it did.
  clearStorage();
  // A file that was still being loaded may have been cached meanwhile.
  await clearCaches().catch(() => undefined);
}

function clearStorage(): void {
  for (const area of [localStorage, sessionStorage]) {
    for (const key of Object.keys(area)) if (key.startsWith(`${prefix}:`)) area.removeItem(key);
  }
}

async function clearCaches(): Promise<void> {
  if (!("caches" in globalThis)) return;
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(prefix)).map((name) => caches.delete(name)));
}

async function endPushes(): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await worker?.getNotifications?.()) ?? []) shown.close();
  await (await worker?.pushManager?.getSubscription())?.unsubscribe();
}
