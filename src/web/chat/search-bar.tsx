/** Searches the complete transcript; the browser's own search sees only the rendered rows. */
import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { IconButton } from "../shared/ui/button.tsx";
import { inputStyles } from "../shared/ui/field.tsx";
import { addMarkStyles, rangesIn, TranscriptSearch, type Found } from "./search.ts";
import type { FeedState, TranscriptFeed } from "./transcript-feed.ts";
import type { ListHandle } from "./transcript-list.tsx";

/** Longer than the pause between keystrokes. */
const typingMs = 150;
/** How long rows may take to be measured after a jump. */
const settleMs = 400;

export interface SearchBarProps {
  feed: TranscriptFeed;
  state: FeedState;
  list: React.RefObject<ListHandle | null>;
  onReveal: (seq: number | null) => void;
  onClose: () => void;
}

export function SearchBar({ feed, state, list, onReveal, onClose }: SearchBarProps) {
  const [typed, setTyped] = useState("");
  const [query, setQuery] = useState("");
  const [current, setCurrent] = useState<Found | null>(null);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);

  const search = useMemo(() => new TranscriptSearch(query), [query]);
  const found = useMemo(() => search.find(state.items), [search, state.items]);
  const at = current === null ? -1 : found.findIndex(({ seq, nth }) => seq === current.seq && nth === current.nth);

  const show = (next: Found | undefined): void => {
    setCurrent(next ?? null);
    onReveal(next?.seq ?? null);
    if (next !== undefined) list.current?.showSeq(next.seq);
  };
  const step = (by: number): void => {
    if (found.length === 0) return;
    show(found[(at + by + found.length) % found.length]);
  };

  // Starts with the last match: most searches are for something recent.
  const startSearch = useEffectEvent((text: string) => {
    setQuery(text);
    show(new TranscriptSearch(text).find(feed.state().items).at(-1));
  });
  const foundLate = useEffectEvent(() => {
    if (current === null) show(search.find(feed.state().items).at(-1));
  });
  useEffect(() => {
    const timer = setTimeout(() => startSearch(typed.trim()), typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    let mounted = true;
    if (query !== "") void feed.loadAll(() => mounted).then(() => mounted && foundLate());
    return () => {
      mounted = false;
    };
  }, [query, feed]);

  useMarks(list, query, current);
  const reading = query !== "" && state.older;
  return (
    <search className="flex items-center gap-1 border-b border-line bg-panel px-3 py-1.5">
      <input
        ref={input}
        type="search"
        aria-label="Search in transcript"
        placeholder="Search in transcript"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          else if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
          else return;
          event.preventDefault();
        }}
        className={`${inputStyles} min-w-0 flex-1`}
      />
      <span role="status" className="px-1 text-xs whitespace-nowrap text-dim tabular-nums">
        {query === ""
          ? ""
          : found.length === 0
            ? reading
              ? "searching …"
              : "no matches"
            : `${at + 1} of ${found.length}${reading ? " …" : ""}`}
      </span>
      <IconButton label="Previous match" disabled={found.length === 0} onClick={() => step(-1)} Sign={ChevronUp} />
      <IconButton label="Next match" disabled={found.length === 0} onClick={() => step(1)} Sign={ChevronDown} />
      <IconButton label="Close search" onClick={onClose} Sign={X} />
    </search>
  );
}

/** Rows come and go while scrolling: the highlights follow the rendered rows. */
function useMarks(list: SearchBarProps["list"], query: string, current: Found | null): void {
  useEffect(() => {
    if (!("highlights" in CSS)) return undefined;
    const element = list.current?.element();
    if (element == null || query === "") return undefined;
    addMarkStyles();
    const currentRange = (): Range | undefined => {
      const row = current === null ? null : element.querySelector(`[data-seq="${current.seq}"]`);
      return row === null ? undefined : rangesIn(row, query)[current?.nth ?? 0];
    };
    const mark = (): void => {
      CSS.highlights.set("found", new Highlight(...rangesIn(element, query)));
      const here = currentRange();
      CSS.highlights.set("found-here", new Highlight(...(here === undefined ? [] : [here])));
    };
    let frame = 0;
    const soon = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(mark);
    };
    const observer = new MutationObserver(soon);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    soon();
    // Once the rows are measured, scroll to the match: its row may be taller than the screen.
    const settled = setTimeout(() => {
      const box = currentRange()?.getBoundingClientRect();
      const view = element.getBoundingClientRect();
      if (box !== undefined && (box.top < view.top || box.bottom > view.bottom)) {
        element.scrollBy({ top: box.top - view.top - view.height / 3 });
      }
    }, settleMs);
    return () => {
      clearTimeout(settled);
      cancelAnimationFrame(frame);
      observer.disconnect();
      CSS.highlights.clear();
    };
  }, [list, query, current]);
}
