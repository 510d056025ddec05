/**
 * The last state of a chat session's transcript, in this browser, so that a reload shows it at once and fetches only
 * what is new. It is a cache and no more: over quota it is left out, after seven days it is thrown away, and a deleted
 * session leaves nothing.
 */
import { keepEntry, recallEntry } from "./cached-entry.ts";
import { noRoom } from "./storage.ts";

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
