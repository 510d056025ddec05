/**
 * This browser's key. Its private half cannot be read by anybody, this page included: it can only be used, and only by
 * pages of this origin. So there is nothing that a program on the daemon's port, or a script in this page, could carry away.
 */
import type { DeviceKey } from "../../../client/signer.ts";

export interface KeptKey extends DeviceKey {
  /** As the daemon knows it. */
  publicKey: string;
}

const database = "holdfast";
const store = "device";
const place = "key";

let kept: Promise<KeptKey | null> | undefined;

/** Null before a login. */
export function deviceKey(): Promise<KeptKey | null> {
  return (kept ??= inStore("readonly", (keys) => keys.get(place) as IDBRequest<KeptKey | undefined>).then(
    (found) => found ?? null,
  ));
}

export async function keepKey(key: KeptKey): Promise<void> {
  await inStore("readwrite", (keys) => keys.put(key, place));
  kept = Promise.resolve(key);
}

export async function forgetKey(): Promise<void> {
  kept = Promise.resolve(null);
  await inStore("readwrite", (keys) => keys.delete(place));
}

/** Another tab may have logged in or out: whether this browser now has a key, and another one than `id`. */
export async function hasOtherKey(id: string | null): Promise<boolean> {
  kept = undefined;
  const now = await deviceKey();
  return now !== null && now.id !== id;
}

async function inStore<T>(mode: IDBTransactionMode, act: (keys: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open(database, 1);
  opening.addEventListener("upgradeneeded", () => void opening.result.createObjectStore(store));
  const db = await done(opening);
  try {
    return await done(act(db.transaction(store, mode).objectStore(store)));
  } finally {
    db.close();
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    const why = (): Error => request.error ?? new Error("This browser keeps nothing for this page.");
    request.addEventListener("error", () => reject(why()));
  });
}
