/** Text search in a transcript. */
import type { TranscriptItem } from "../../contract/transcript.ts";
import { textOf } from "./item-text.ts";

export interface Found {
  seq: number;
  /** Which occurrence within the item, from 0. */
  nth: number;
}

/** More than anyone steps through; a search for `e` must not fill the memory. */
const mostFound = 20_000;

/** Remembers the count of each item: streamed items cost only themselves. */
export class TranscriptSearch {
  readonly #query: string;
  readonly #counts = new WeakMap<TranscriptItem, number>();

  constructor(query: string) {
    this.#query = query.toLowerCase();
  }

  find(items: readonly TranscriptItem[]): Found[] {
    const found: Found[] = [];
    if (this.#query === "") return found;
    for (const item of items) {
      const count = this.#count(item);
      for (let nth = 0; nth < count && found.length < mostFound; nth += 1) found.push({ seq: item.seq, nth });
    }
    return found;
  }

  #count(item: TranscriptItem): number {
    const known = this.#counts.get(item);
    if (known !== undefined) return known;
    const count = occurrences(textOf(item).toLowerCase(), this.#query);
    this.#counts.set(item, count);
    return count;
  }
}

export function occurrences(text: string, query: string): number {
  let count = 0;
  for (let at = text.indexOf(query); at >= 0 && count < mostFound; at = text.indexOf(query, at + query.length))
    count += 1;
  return count;
}

/** The matches in the rendered rows. The browser highlights ranges without changing the rows. */
export function rangesIn(element: Element, query: string): Range[] {
  const wanted = query.toLowerCase();
  const ranges: Range[] = [];
  if (wanted === "") return ranges;
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < 2_000; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}

let styled = false;

/** Not in the style sheet: its compiler does not support these selectors yet. */
export function addMarkStyles(): void {
  if (styled) return;
  styled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    ::highlight(found) { background-color: light-dark(#ffe8a3, #5c4a12); }
    ::highlight(found-here) { background-color: light-dark(#ffb84d, #a86a00); }
  `);
  document.adoptedStyleSheets.push(sheet);
}
