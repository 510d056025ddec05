/** Where this browser saw a session last, so that what came since can be told apart. */
import { live } from "../shared/data/live.ts";
import { seenKey } from "../shared/data/session-cache.ts";

interface Seen {
  seq: number;
  at: number;
}

/** A look elsewhere for less than this is no absence. */
export const awayMs = 60_000;

export function lastSeen(id: string): Seen | null {
  try {
    const seen = JSON.parse(localStorage.getItem(seenKey(id)) ?? "null") as Partial<Seen> | null;
    return typeof seen?.seq === "number" && typeof seen.at === "number" ? (seen as Seen) : null;
  } catch {
    return null;
  }
}

export function markSeen(id: string, seq: number): void {
  // One that was deleted while it was open leaves nothing.
  if (!live.getState().sessions.has(id)) return;
  try {
    localStorage.setItem(seenKey(id), JSON.stringify({ seq, at: Date.now() } satisfies Seen));
  } catch {
    // Full or forbidden: then nothing is told apart.
  }
}

/** The item that begins what came while the person was away; null when they were not, or nothing came. */
export function awayFrom(seen: Seen | null, items: readonly { seq: number }[], now: number): number | null {
  if (seen === null || now - seen.at < awayMs) return null;
  const first = items.findIndex(({ seq }) => seq > seen.seq);
  // All of it new: it was opened before anything was said.
  return first <= 0 ? null : (items[first]?.seq ?? null);
}
