/** Says so when events are missing here for longer than a moment: a gap in the sequence that is being read again. */
import { useEffect, useState } from "react";
import { live } from "../shared/data/live.ts";
import { Button } from "../shared/ui/button.tsx";
import type { TranscriptFeed } from "./transcript-feed.ts";
import type { TranscriptItem } from "../../contract/transcript.ts";
import { safeText } from "./inert.ts";
import { turnEndWords } from "./words.ts";

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

/** Tells those who listen instead of look: that a turn ended, and that something is asked. Not each word. */
export function Announcer({ items }: { items: readonly TranscriptItem[] }) {
  // What was there when the view was opened is read, not announced.
  const [told, setTold] = useState({ items, words: "" });
  if (told.items !== items) setTold({ items, words: newsSince(told.items.at(-1)?.seq ?? null, items) ?? told.words });
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {told.words}
    </p>
  );
}

function newsSince(seq: number | null, items: readonly TranscriptItem[]): string | null {
  if (seq === null) return null;
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item === undefined || item.seq <= seq) return null;
    const news = newsOf(item);
    if (news !== null) return news;
  }
  return null;
}

function newsOf(item: TranscriptItem): string | null {
  if (item.item === "permission") return item.open ? `The agent asks for permission: ${safeText(item.title)}` : null;
  if (item.item === "turn-end") return turnEndWords(item) ?? "The agent has finished its turn.";
  return item.item === "reset" ? "The conversation's context was reset." : null;
}
