import { useEffect, useEffectEvent, useState } from "react";
import { awayFrom, lastSeen, markSeen } from "./away.ts";
import type { FeedState } from "./transcript-feed.ts";

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
