/** Text and addresses from agents, repositories and trackers, made safe to show: they may contain anything. */
import { hiddenCharacters } from "../../../model/text.ts";

const hidden = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f${hiddenCharacters}]`, "gu");
const controls = /\p{Bidi_Control}|(?![\t\n])\p{Cc}/gu;
const blanks = / {24,}|\n{4,}|\t{8,}/g;

/** One-line text without control, direction and invisible characters: they could disguise one command as another. */
export function plainText(text: string): string {
  return text.replace(hidden, "");
}

/** Text with control and direction characters written out. */
export function visibleText(text: string): string {
  return text.replace(controls, codePoint);
}

/** The text of a permission request: invisible characters are written out, long runs of blanks are counted. */
export function requestText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(hidden, codePoint)
    .replace(blanks, (run) => ` ⟨${formatCount(run.length)} ${blankName(run)}⟩ `);
}

/** 4,212 */
export function formatCount(number: number): string {
  return number.toLocaleString("en-US");
}

/** 1 file, 2 files */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The work that exists only in a worktree: nothing, "2 uncommitted files", "1 unpushed commit". */
export function workCounts({ uncommitted, unpushed }: { uncommitted: number; unpushed: readonly unknown[] }): string[] {
  return [
    ...(uncommitted === 0 ? [] : [countOf(uncommitted, "uncommitted file")]),
    ...(unpushed.length === 0 ? [] : [countOf(unpushed.length, "unpushed commit")]),
  ];
}

/** The http(s) address in a text that is one, else null. */
export function webAddress(text: string): string | null {
  const parsed = URL.parse(text);
  return parsed !== null && (parsed.protocol === "https:" || parsed.protocol === "http:") ? parsed.href : null;
}

function codePoint(character: string): string {
  return `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function blankName(run: string): string {
  return run.startsWith(" ") ? "spaces" : run.startsWith("\n") ? "line breaks" : "tabs";
}
