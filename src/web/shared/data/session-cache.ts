/**
 * What this browser stores about sessions. Transcripts and the list of sessions are caches for a fast reload: dropped if
 * over quota or after seven days. Drafts, unsent prompts and review comments are the user's. A deleted session leaves
 * nothing behind.
 */
import type { SessionJson } from "../../../contract/session.ts";
import { live } from "./live.ts";
import { readJson, storage, store } from "./storage.ts";

const maxAgeMs = 7 * 24 * 3_600_000;
const sessionsKey = "holdfast:sessions:v1";
/** Storage is for transcripts first. */
const maxSessionsCharacters = 500_000;

const stateKey = (id: string): string => `holdfast:acp-state:v1:${id}`;
export const draftKey = (id: string): string => `holdfast:draft:${id}`;
/** Up to where this browser showed the session. */
export const seenKey = (id: string): string => `holdfast:seen:${id}`;
/** Prompts sent but not yet confirmed by the daemon. */
export const unsentKey = (id: string): string => `holdfast:outbox:${id}`;
export const reviewKey = (id: string): string => `holdfast:review:${id}`;
const keys = [stateKey, draftKey, seenKey, unsentKey, reviewKey];

/** The cached transcript of a session; null if there is none. */
export function readState(id: string): unknown {
  return readEntry(stateKey(id));
}

/** Whether this browser showed the session as a chat. */
export function hasState(id: string): boolean {
  return localStorage.getItem(stateKey(id)) !== null;
}

/** False if the storage is full: the caller then loads from the daemon again. */
export function writeState(id: string, value: unknown): boolean {
  const isWritten = writeEntry(stateKey(id), value);
  if (!isWritten) storage.setState({ full: true });
  return isWritten;
}

/** Frees space: transcripts can be loaded from the daemon again. Drafts and comments cannot, and stay. */
export function dropStates(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(stateKey(""))) localStorage.removeItem(key);
}

export function dropSession(id: string): void {
  for (const key of keys) localStorage.removeItem(key(id));
}

/** Drops everything of sessions that no longer exist, and expired transcripts. */
export function dropStaleSessions(existing: ReadonlySet<string>): void {
  for (const key of Object.keys(localStorage)) {
    const prefix = keys.map((keyOf) => keyOf("")).find((start) => key.startsWith(start));
    if (prefix === undefined) continue;
    const id = key.slice(prefix.length);
    if (!existing.has(id)) dropSession(id);
    // Reading drops an expired entry.
    else if (prefix === stateKey("")) readState(id);
  }
}

/** Caches the sessions for a reload while the daemon is unreachable. */
export function cacheSessions(): void {
  const { loaded, login, sessions } = live.getState();
  if (loaded && login.is === "in") writeEntry(sessionsKey, [...sessions.values()], maxSessionsCharacters);
}

/** Shows the cached sessions until the daemon responds; its snapshot replaces all of them. */
export function showCachedSessions(): void {
  const { loaded, sessions } = live.getState();
  if (loaded || sessions.size > 0) return;
  const cached = readEntry(sessionsKey);
  if (Array.isArray(cached) && cached.length > 0)
    live.setState({ sessions: new Map((cached as SessionJson[]).map((session) => [session.id, session])) });
}

export function dropCachedSessions(): void {
  localStorage.removeItem(sessionsKey);
}

function readEntry(key: string): unknown {
  const { savedAt, value } = (readJson(key) ?? {}) as { savedAt?: unknown; value?: unknown };
  if (typeof savedAt === "number" && Date.now() - savedAt < maxAgeMs) return value;
  localStorage.removeItem(key);
  return null;
}

/** False if it does not fit; the old value is removed then too. */
function writeEntry(key: string, value: unknown, maxCharacters = Infinity): boolean {
  const text = JSON.stringify({ savedAt: Date.now(), value });
  const isWritten = text.length <= maxCharacters && store(key, text);
  if (!isWritten) localStorage.removeItem(key);
  return isWritten;
}
