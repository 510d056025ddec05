import { useEffect, useEffectEvent, useState } from "react";
import type { FeedState } from "./transcript-feed.ts";
import { live } from "../shared/data/live.ts";
import { seenKey } from "../shared/data/session-cache.ts";

interface Seen {
  seq: number;
  at: number;
}

/** A look elsewhere for less than this is no absence. */
export const awayMs = 60_000;

function lastSeen(id: string): Seen | null {
  try {
    const seen = JSON.parse(localStorage.getItem(seenKey(id)) ?? "null") as Partial<Seen> | null;
    return typeof seen?.seq === "number" && typeof seen.at === "number" ? (seen as Seen) : null;
  } catch {
    return null;
  }
}

function markSeen(id: string, seq: number): void {
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

/** Written at most this often. */
const markMs = 1_000;

/** Which item begins what came while this browser did not show the session; and keeps up to where it did. */
export function useAway(id: string, state: FeedState): { away: number | null; onAtEnd: (atEnd: boolean) => void } {
  const [seen, setSeen] = useState(() => ({ last: lastSeen(id), at: Date.now() }));
  const [atEnd, setAtEnd] = useState(true);
  const [away, setAway] = useState<{ of: typeof seen; seq: number | null } | null>(null);
  const { phase, items, head } = state;

  // Looked up once for each absence: later items do not move the line.
  if (phase === "ready" && away?.of !== seen) {
    const seq = awayFrom(seen.last, items, seen.at);
    // From the cache only what is old is here; the news come in a moment.
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
