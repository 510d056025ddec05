/** Finds words in a long text and marks them without changing the page's nodes: 20,000 lines stay one text node. */
const allName = "holdfast-match";
const currentName = "holdfast-match-current";
/** Here, because the style sheet's compiler does not know the selector yet. */
export const matchLook = `
  ::highlight(${allName}) { background-color: var(--color-alert-soft); color: var(--color-alert); }
  ::highlight(${currentName}) { background-color: var(--color-alert); color: var(--color-panel); }
`;
/** More marks than this say nothing and cost much. */
const most = 2_000;

export function findAll(text: string, words: string): number[] {
  if (words === "") return [];
  const haystack = text.toLowerCase();
  const needle = words.toLowerCase();
  const found: number[] = [];
  // The last ones, because the end is what is looked at.
  for (let at = haystack.lastIndexOf(needle); at >= 0 && found.length < most;) {
    found.push(at);
    at = at === 0 ? -1 : haystack.lastIndexOf(needle, at - 1);
  }
  return found.toReversed();
}

/** @param holder null to take all marks away. */
export function markMatches(
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
