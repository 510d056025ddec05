/** Marks where the items begin that arrived while the user was away. */
import { useEffect, useEffectEvent, useState } from "react";
import type { FeedState } from "./transcript-feed.ts";
import { live } from "../shared/data/live.ts";
import { seenKey } from "../shared/data/session-cache.ts";
import { readJson, store } from "../shared/data/storage.ts";

interface Seen {
  seq: number;
  at: number;
}

/** Shorter absences do not count. */
export const awayMs = 60_000;

function lastSeen(id: string): Seen | null {
  const seen = readJson(seenKey(id)) as Partial<Seen> | null;
  return typeof seen?.seq === "number" && typeof seen.at === "number" ? (seen as Seen) : null;
}

function markSeen(id: string, seq: number): void {
  // A session that was deleted while it was open leaves nothing behind.
  if (live.getState().sessions.has(id)) store(seenKey(id), JSON.stringify({ seq, at: Date.now() } satisfies Seen));
}

/** The first item that arrived while the user was away; null if they were not away or nothing arrived. */
export function awayFrom(seen: Seen | null, items: readonly { seq: number }[], now: number): number | null {
  if (seen === null || now - seen.at < awayMs) return null;
  const first = items.findIndex(({ seq }) => seq > seen.seq);
  // If everything is new, the session was opened before its first item.
  return first <= 0 ? null : (items[first]?.seq ?? null);
}

/** Written at most this often. */
const markMs = 1_000;

/** Returns the first item since this browser last showed the session, and records up to where it shows it. */
export function useAway(id: string, state: FeedState): { away: number | null; onAtEnd: (atEnd: boolean) => void } {
  const [seen, setSeen] = useState(() => ({ last: lastSeen(id), at: Date.now() }));
  const [atEnd, setAtEnd] = useState(true);
  const [away, setAway] = useState<{ of: typeof seen; seq: number | null } | null>(null);
  const { phase, items, head } = state;

  // Determined once per absence: later items do not move the mark.
  if (phase === "ready" && away?.of !== seen) {
    const seq = awayFrom(seen.last, items, seen.at);
    // The cache contains only old items; the new ones follow in a moment.
    if (seq !== null || seen.last === null || head.seq > seen.last.seq) setAway({ of: seen, seq });
  }

  const upTo = phase === "ready" && atEnd ? head.seq : null;
  const mark = useEffectEvent(() => {
    if (upTo !== null && document.visibilityState === "visible") markSeen(id, upTo);
  });
  useEffect(() => {
    const timer = setTimeout(() => {
      if (upTo !== null && document.visibilityState === "visible") markSeen(id, upTo);
    }, markMs);
    return () => clearTimeout(timer);
  }, [id, upTo]);
  useEffect(() => {
    const onVisibility = (): void => {
      if (document.visibilityState === "visible") setSeen({ last: lastSeen(id), at: Date.now() });
      else mark();
    };
    const onHide = (): void => mark();
    document.addEventListener("visibilitychange", onVisibility);
    addEventListener("pagehide", onHide);
    return () => {
      document.removeEventListener("visibilitychange", onVisibility);
      removeEventListener("pagehide", onHide);
      onHide();
    };
  }, [id]);
  return { away: away?.seq ?? null, onAtEnd: setAtEnd };
}
