/** The terminal's history as plain text: scrolled, selected, copied and searched like any page. A snapshot from when it was opened. */
import { useEffect, useMemo, useRef, useState } from "react";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useQuery } from "../shared/data/use-query.ts";
import { visibleText } from "../shared/ui/safe-text.ts";
import { IconButton } from "../shared/ui/button.tsx";
import { TextInput } from "../shared/ui/field.tsx";
import { Spinner } from "../shared/ui/loading.tsx";

/** Finds words in a long text and marks them without changing the page's nodes: 20,000 lines stay one text node. */
const allName = "holdfast-match";
const currentName = "holdfast-match-current";
/** Not in the style sheet: its compiler does not support the selector yet. */
const matchStyles = `
  ::highlight(${allName}) { background-color: var(--color-alert-soft); color: var(--color-alert); }
  ::highlight(${currentName}) { background-color: var(--color-alert); color: var(--color-panel); }
`;
/** More matches would be slow and of no use. */
const most = 2_000;

function findAll(text: string, words: string): number[] {
  if (words === "") return [];
  const haystack = text.toLowerCase();
  const needle = words.toLowerCase();
  const found: number[] = [];
  // The last matches: the end is what users read.
  for (let at = haystack.lastIndexOf(needle); at >= 0 && found.length < most;) {
    found.push(at);
    at = at === 0 ? -1 : haystack.lastIndexOf(needle, at - 1);
  }
  return found.toReversed();
}

/** @param holder null to clear the highlights. */
function markMatches(
  holder: HTMLElement | null,
  found: readonly number[],
  length: number,
  current: number | null,
): void {
  const node = holder?.firstChild ?? null;
  const range = (start: number): Range => {
    const made = new Range();
    made.setStart(node!, start);
    made.setEnd(node!, start + length);
    return made;
  };
  if (node === null || found.length === 0 || current === null) {
    CSS.highlights.delete(allName);
    CSS.highlights.delete(currentName);
    return;
  }
  const chosen = range(found[current]!);
  CSS.highlights.set(allName, new Highlight(...found.map(range)));
  CSS.highlights.set(currentName, new Highlight(chosen));
  const scroller = holder!.parentElement!;
  const box = chosen.getBoundingClientRect();
  const frame = scroller.getBoundingClientRect();
  if (box.top < frame.top || box.bottom > frame.bottom) {
    scroller.scrollBy({ top: box.top - frame.top - frame.height / 2 });
  }
}

/** As many as tmux stores. */
const mostLines = 20_000;

export function Scrollback({ session, onClose }: { session: string; onClose: () => void }) {
  const options = useMemo(() => ({ params: { id: session }, query: { lines: mostLines } }), [session]);
  const [history] = useQuery("screen", options);
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const pre = useRef<HTMLPreElement>(null);
  const text = useMemo(() => (history.is === "known" ? visibleText(history.value.lines.join("\n")) : ""), [history]);
  const matches = findAll(text, words);
  const current = matches.length === 0 ? null : (matches.length - 1 - at + matches.length * 2) % matches.length;

  useEffect(() => {
    if (pre.current !== null) markMatches(pre.current, findAll(text, words), words.length, current);
  }, [text, words, current]);
  useEffect(() => () => markMatches(null, [], 0, null), []);

  const move = (by: number): void => {
    if (matches.length > 0) setAt((at + by + matches.length) % matches.length);
  };
  return (
    <section
      aria-label="Terminal history"
      className="absolute inset-0 z-10 flex flex-col bg-panel"
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}
    >
      <style>{matchStyles}</style>
      <div className="flex items-center gap-1 border-b border-line p-1">
        <TextInput
          type="search"
          aria-label="Search history"
          placeholder="Search history"
          autoFocus
          className="max-w-72"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") move(event.shiftKey ? -1 : 1);
          }}
        />
        <IconButton label="Previous match" disabled={matches.length === 0} onClick={() => move(1)} Sign={ChevronUp} />
        <IconButton label="Next match" disabled={matches.length === 0} onClick={() => move(-1)} Sign={ChevronDown} />
        <p role="status" className="min-w-0 flex-1 truncate text-xs text-dim tabular-nums">
          {words === "" ? "" : current === null ? "No matches" : `${current + 1} of ${matches.length}`}
        </p>
        <IconButton label="Close history" onClick={onClose} Sign={X} />
      </div>
      {history.is === "loading" && <Spinner label="Loading history" />}
      {history.is === "failed" && (
        <p role="alert" className="p-4 text-danger">
          Could not load the history: {history.why}
        </p>
      )}
      {history.is === "known" && (
        <div ref={toEnd} role="region" aria-label="Lines" tabIndex={0} className="min-h-0 flex-1 overflow-auto p-2">
          <pre ref={pre} className="font-mono text-xs">
            {text === "" ? "No output yet." : text}
          </pre>
        </div>
      )}
    </section>
  );
}

/** Starts at the end, like a screen. */
function toEnd(scroller: HTMLElement | null): void {
  scroller?.scrollTo({ top: scroller.scrollHeight });
}
