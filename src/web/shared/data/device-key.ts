/**
 * This browser's key. Its private half cannot be read, not even by this page: only used, and only by pages of this
 * origin. Neither a program on the daemon's port nor a script in this page can steal it.
 */
import type { DeviceKey } from "../../../client/signer.ts";

export interface StoredKey extends DeviceKey {
  /** In the format of the daemon. */
  publicKey: string;
}

const database = "holdfast";
const store = "device";
const entry = "key";

let cached: Promise<StoredKey | null> | undefined;

/** Null before a login. */
export function deviceKey(): Promise<StoredKey | null> {
  return (cached ??= inStore("readonly", (keys) => keys.get(entry) as IDBRequest<StoredKey | undefined>).then(
    (found) => found ?? null,
  ));
}

export async function storeKey(key: StoredKey): Promise<void> {
  await inStore("readwrite", (keys) => keys.put(key, entry));
  cached = Promise.resolve(key);
}

export async function deleteKey(): Promise<void> {
  cached = Promise.resolve(null);
  await inStore("readwrite", (keys) => keys.delete(entry));
}

/** Rereads the key, since another tab may have logged in or out: whether there is one, other than `id`. */
export async function hasOtherKey(id: string | null): Promise<boolean> {
  cached = undefined;
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
    const why = (): Error => request.error ?? new Error("This browser does not allow this page to store anything.");
    request.addEventListener("error", () => reject(why()));
  });
}

/** Decodes base64url. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}
