/**
 * The last state of a chat session's transcript, in this browser, so that a reload shows it at once and fetches only
 * what is new. It is a cache and no more: over quota it is left out, after seven days it is thrown away, and a deleted
 * session leaves nothing.
 */
import { createStore } from "zustand";
import type { SessionJson } from "../../../contract/wire.ts";
import { live } from "./live.ts";

const key = "holdfast:sessions:v1";
/** The browser's room is for transcripts first. */
const mostCharacters = 500_000;

export function keepSessions(): void {
  const { loaded, login, sessions } = live.getState();
  if (!loaded || login.is !== "in") return;
  // Without room the page waits for the daemon, as it does the first time.
  keepEntry(key, [...sessions.values()], mostCharacters);
}

/** Until the daemon answers: what it says replaces all of it. */
export function showKeptSessions(): void {
  const { loaded, sessions } = live.getState();
  if (loaded || sessions.size > 0) return;
  const kept = recallEntry(key);
  if (Array.isArray(kept) && kept.length > 0)
    live.setState({ sessions: new Map((kept as SessionJson[]).map((session) => [session.id, session])) });
}

export function forgetKeptSessions(): void {
  localStorage.removeItem(key);
}

export const storage = createStore<{ full: boolean; hidden: boolean }>(() => ({ full: false, hidden: false }));

export function noRoom(): void {
  if (!storage.getState().full) storage.setState({ full: true });
}

/** A value that this browser keeps for a week, and no more than a cache: what cannot be read or is older is thrown away. */
const keptMs = 7 * 24 * 3_600_000;

interface Entry {
  savedAt: number;
  value: unknown;
}

export function recallEntry(key: string): unknown {
  const text = localStorage.getItem(key);
  if (text === null) return null;
  const entry = parse(text);
  if (entry !== null && Date.now() - entry.savedAt < keptMs) return entry.value;
  localStorage.removeItem(key);
  return null;
}

/** False where there is no room, or none is given: what does not fit must not stand there old either. */
export function keepEntry(key: string, value: unknown, mostCharacters = Infinity): boolean {
  const text = JSON.stringify({ savedAt: Date.now(), value } satisfies Entry);
  try {
    if (text.length <= mostCharacters) {
      localStorage.setItem(key, text);
      return true;
    }
  } catch {
    // Over quota.
  }
  localStorage.removeItem(key);
  return false;
}

function parse(text: string): Entry | null {
  try {
    const entry = JSON.parse(text) as Partial<Entry> | null;
    return typeof entry?.savedAt === "number" ? (entry as Entry) : null;
  } catch {
    return null;
  }
}

const prefix = "holdfast:acp-state:v1:";

export function recallSession(id: string): unknown {
  return recallEntry(prefix + id);
}

/** Whether this browser showed the session as a chat. */
export function hasState(id: string): boolean {
  return localStorage.getItem(prefix + id) !== null;
}

/** False where the browser has no room: the caller then replays from the daemon. */
export function rememberSession(id: string, value: unknown): boolean {
  const isKept = keepEntry(prefix + id, value);
  // A draft is no cache: it stays.
  if (!isKept) noRoom();
  return isKept;
}

export function forgetSession(id: string): void {
  localStorage.removeItem(prefix + id);
  localStorage.removeItem(draftKey(id));
  localStorage.removeItem(seenKey(id));
  localStorage.removeItem(outboxKey(id));
  localStorage.removeItem(reviewKey(id));
}

/** Makes room: the states of all sessions can be read from the daemon again. Drafts and comments cannot, and stay. */
export function forgetStates(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(prefix)) localStorage.removeItem(key);
}

export function draftKey(id: string): string {
  return `holdfast:draft:${id}`;
}

/** Up to where this browser showed the session. */
export function seenKey(id: string): string {
  return `holdfast:seen:${id}`;
}

/** Prompts that were sent and not yet seen to arrive. */
export function outboxKey(id: string): string {
  return `holdfast:outbox:${id}`;
}

/** Where comments on a session's changes wait to be sent. */
export function reviewKey(id: string): string {
  return `holdfast:review:${id}`;
}

/** Drops what is too old or belongs to a session that is not there any more. */
export function sweepSessions(existing: ReadonlySet<string>): void {
  for (const key of Object.keys(localStorage)) {
    const kind = [prefix, draftKey(""), seenKey(""), outboxKey(""), reviewKey("")].find((start) =>
      key.startsWith(start),
    );
    if (kind === undefined) continue;
    const id = key.slice(kind.length);
    if (!existing.has(id)) forgetSession(id);
    else if (kind === prefix) recallSession(id);
  }
}
