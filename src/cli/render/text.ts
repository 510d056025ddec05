/** Small words that every list is made of. Pure. */
import { hiddenCharacters } from "../../model/text.ts";
import { styleText } from "node:util";

/** Lines cut to a terminal's width. Pure; colors count for nothing and survive the cut. */

// oxlint-disable-next-line no-control-regex -- color sequences begin with one
const pieces = /\u001b\[[0-9;]*m|[^\u001b]/gu;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const narrow = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;

/** A line that is too long ends in `…`. */
export function cut(line: string, columns: number): string {
  // No character is wider than two columns, so most lines need no closer inspection.
  if (line.length * 2 <= columns) return line;
  let width = 0;
  let kept = "";
  let atLimit = "";
  let styled = false;
  for (const [piece] of line.matchAll(pieces)) {
    if (piece.startsWith("\u001b")) {
      kept += piece;
      styled = true;
      continue;
    }
    const more = narrow.test(piece) ? 0 : wide.test(piece) ? 2 : 1;
    if (width + more > columns) return `${atLimit}…${styled ? "\u001b[0m" : ""}`;
    width += more;
    kept += piece;
    if (width <= columns - 1) atLimit = kept;
  }
  return kept;
}

export type Paint = Record<"green" | "cyan" | "blue" | "dim" | "yellow" | "red" | "bold", (text: string) => string>;

const names = ["green", "cyan", "blue", "dim", "yellow", "red", "bold"] as const;

export function makePaint(colors: boolean): Paint {
  const painters = names.map((name) => [
    name,
    // Whether to color at all is decided once, by the caller; styleText must not look at a stream again.
    colors ? (text: string) => styleText(name, text, { validateStream: false }) : (text: string) => text,
  ]);
  return Object.fromEntries(painters) as Paint;
}

/** NO_COLOR counts when it is set to anything but the empty string. */
export function wantsColors(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  return isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

/** C1, DEL and invisible characters: JSON.stringify escapes C0 alone. */
const unescaped = new RegExp(String.raw`[\u007f-\u009f${hiddenCharacters}]`, "gu");

/** The same value in characters that are safe to print; they stand only in strings, so escaping them changes nothing. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(unescaped, escaped);
}

function escaped(letter: string): string {
  return letter
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

const unseen = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f${hiddenCharacters}]`, "gu");

/** Control characters would let a title move the cursor or recolor the terminal; direction marks would reorder a line. */
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

/** x-2 before x-10. */
export function compareNaturally(left: string, right: string): number {
  return left === right ? 0 : compareKeys(naturalKey(left), naturalKey(right));
}

/** In natural order of what `text` says of each, which is taken apart once and not at every comparison. */
export function sortedNaturally<T>(values: readonly T[], text: (value: T) => string): T[] {
  return values
    .map((value) => ({ value, key: naturalKey(text(value)) }))
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ value }) => value);
}

type NaturalKey = readonly (string | number)[];

function naturalKey(text: string): NaturalKey {
  return (text.match(/\d+|\D+/g) ?? []).map((part) => (/^\d/.test(part) ? Number(part) : part));
}

function compareKeys(a: NaturalKey, b: NaturalKey): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a[at]!;
    const y = b[at]!;
    if (x === y) continue;
    if (typeof x === "number" && typeof y === "number") return x - y;
    return String(x) < String(y) ? -1 : 1;
  }
  return a.length - b.length;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** 40s, 5m, 1h, 2d; a clock that was set back never gives a negative age. */
export function age(ms: number): string {
  if (ms < minute) return `${Math.max(0, Math.floor(ms / second))}s`;
  if (ms < hour) return `${Math.floor(ms / minute)}m`;
  if (ms < day) return `${Math.floor(ms / hour)}h`;
  return `${Math.floor(ms / day)}d`;
}

/** Age of a time as the API gives it; empty where there is none. */
export function ageOf(time: string | null | undefined, now: number): string {
  return time === null || time === undefined ? "" : age(now - Date.parse(time));
}

const units: Record<string, number> = { s: second, m: minute, h: hour, d: day, w: 7 * day };

/** `90m`, `2h`, `1h30m`, `3d`; null where it is none. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+[smhdw])+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhdw])/g)) total += Number(count) * units[unit!]!;
  return total > 0 ? total : null;
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
