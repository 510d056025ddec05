/** Says so when events are missing here for longer than a moment: a gap in the sequence that is being read again. */
import { useEffect, useState } from "react";
import { live } from "../shared/data/live.ts";
import { Button } from "../shared/ui/button.tsx";
import type { TranscriptFeed } from "./transcript-feed.ts";

/** Most gaps are closed sooner, and nobody needs to hear of those. */
const quietMs = 800;

export function CatchingUp({ id, feed }: { id: string; feed: TranscriptFeed }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** Up to where it was missing when the timer was set: an agent that talks on is always a little ahead. */
    let missing = 0;
    const here = (): number => feed.state().head.seq;
    const look = (): void => {
      if (feed.state().phase === "loading") return;
      if (here() >= missing) {
        clearTimeout(timer);
        timer = undefined;
        setLate(false);
      }
      const last = live.getState().sessions.get(id)?.seq ?? 0;
      if (timer !== undefined || last <= here()) return;
      missing = last;
      timer = setTimeout(() => setLate(here() < missing), quietMs);
    };
    const ends = [live.subscribe(look), feed.subscribe(look)];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [id, feed]);
  return (
    <div role="status">
      {late && (
        <div className="flex items-center gap-3 bg-busy-soft px-4 py-1.5 text-busy">
          <span className="flex-1">Something is missing here; it is being read again from the daemon.</span>
          <Button size="small" onClick={() => feed.retry()}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}
