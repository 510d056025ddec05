/** Formatting for the terminal: safe text, colors, widths, ages, tables. */
import { hiddenCharacters } from "../../model/text.ts";
import { styleText } from "node:util";
import type { Receipt } from "../../contract/prompt.ts";

// oxlint-disable-next-line no-control-regex -- color sequences begin with one
const pieces = /\u001b\[[0-9;]*m|[^\u001b]/gu;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const narrow = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;

/** Cuts a line to a terminal's width, ending in `…`. Colors have no width and survive the cut. */
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
    // The caller decides whether to use colors; styleText must not check a stream again.
    colors ? (text: string) => styleText(name, text, { validateStream: false }) : (text: string) => text,
  ]);
  return Object.fromEntries(painters) as Paint;
}

/** NO_COLOR counts unless it is empty. */
export function wantsColors(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  return isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

/** C1, DEL and invisible characters: JSON.stringify escapes C0 alone. */
const unescaped = new RegExp(String.raw`[\u007f-\u009f${hiddenCharacters}]`, "gu");

/** JSON that is safe to print: the escaped characters only occur in strings, so the value is the same. */
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

/** One line without control characters, which could move the cursor, or direction marks, which could reorder text. */
export function clean(text: string): string {
  return text
    .replace(
      // oxlint-disable-next-line no-control-regex -- taking them out is the point
      /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e0fff}]+/gu,
      " ",
    )
    .trim();
}

/** For text that the user approves: keeps line ends and spells out every other control or invisible character. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(unseen, (letter) => `⟨U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** An agent's text with line ends, tabs and indentation, but without control sequences. */
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

/** `queued (the agent is busy)`: the disposition of a prompt, with the reason. */
export function receiptLine({ disposition, reason }: Pick<Receipt, "disposition" | "reason">): string {
  return reason === null ? disposition : `${disposition} (${clean(reason)})`;
}
