/** Tokens that browsers got by logging in. Only their hashes are kept; each can be revoked, and expires unused. */
import { crypto } from "../base/crypto.ts";
import type { Settings } from "./lockout.ts";

const key = "access.browserTokens";
const dayMs = 24 * 3600 * 1000;
const unusedMs = 30 * dayMs;
/** Use is written down at most this often: not a commit for each request. */
const touchMs = dayMs;
/** Far more browsers than one person has; the one unused for longest goes. */
const maxTokens = 100;
const tokenBytes = 32;

interface Entry {
  hash: string;
  createdAt: number;
  lastUsedAt: number;
}

export interface BrowserTokens {
  issue(): Promise<string>;
  /** The token's id when it is known and fresh. */
  check(token: string): string | null;
  revoke(id: string): Promise<boolean>;
  revokeAll(): Promise<number>;
  settled(): Promise<void>;
}

export function createBrowserTokens(
  settings: Settings,
  now: () => number,
  warn: (message: string, cause: unknown) => void,
): BrowserTokens {
  // Read at the first use: most starts of a daemon see no browser.
  let entries: Map<string, Entry> | undefined;
  const known = (): Map<string, Entry> => (entries ??= read(settings));
  const save = (): Promise<void> => settings.put(key, JSON.stringify([...known().values()]));
  let touching: Promise<void> = Promise.resolve();
  const fresh = (entry: Entry): boolean => now() - entry.lastUsedAt < unusedMs;

  return {
    issue: async () => {
      const token = newToken();
      for (const entry of known().values()) if (!fresh(entry)) known().delete(entry.hash);
      while (known().size >= maxTokens) known().delete(leastUsed(known()).hash);
      const digest = digestOf(token);
      known().set(digest, { hash: digest, createdAt: now(), lastUsedAt: now() });
      await save();
      return token;
    },
    check: (token) => {
      // A lookup by hash tells a guesser nothing about the token.
      const entry = known().get(digestOf(token));
      if (entry === undefined || !fresh(entry)) return null;
      if (now() - entry.lastUsedAt > touchMs) {
        entry.lastUsedAt = now();
        touching = save().catch((error: unknown) => warn("the use of a browser token was not written down", error));
      }
      return entry.hash;
    },
    revoke: async (id) => {
      if (!known().delete(id)) return false;
      await save();
      return true;
    },
    revokeAll: async () => {
      const count = known().size;
      known().clear();
      await settings.put(key, null);
      return count;
    },
    settled: () => touching,
  };
}

export function newToken(): string {
  return crypto().randomBytes(tokenBytes).toString("base64url");
}

export function digestOf(token: string): string {
  return crypto().hash("sha256", token, "base64url");
}

function leastUsed(entries: Map<string, Entry>): Entry {
  return [...entries.values()].reduce((oldest, each) => (each.lastUsedAt < oldest.lastUsedAt ? each : oldest));
}

function read(settings: Settings): Map<string, Entry> {
  const list = JSON.parse(settings.get(key) ?? "[]") as Entry[];
  return new Map(list.map((entry) => [entry.hash, entry]));
}
