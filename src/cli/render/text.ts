/** Small words that every list is made of. Pure. */
import { hiddenCharacters } from "../../model/text.ts";

const unseen = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f${hiddenCharacters}]`, "gu");

/** Control characters would let a title move the cursor or recolour the terminal; direction marks would reorder a line. */
export function clean(text: string): string {
  return text
    .replace(
      // oxlint-disable-next-line no-control-regex -- taking them out is the point
      /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]+/gu,
      " ",
    )
    .trim();
}

/** For what somebody approves: line ends stay, everything else that a terminal obeys or does not show is written out. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(unseen, (letter) => `⟨U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** What an agent wrote, with its line ends, tabs and indentation, and nothing that a terminal would obey. */
export function inert(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- taking them out is the point
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]+/gu,
    (found) => (/^\r+$/.test(found) ? "" : " "),
  );
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Columns two spaces apart, as wide as their widest cell; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
}
