/** Text that somebody approves: characters that are not seen are written out, and long blanks are counted. */
import { hiddenCharacters } from "../../../model/hidden-characters.ts";

const unseen = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f${hiddenCharacters}]`, "gu");
const blanks = / {24,}|\n{4,}|\t{8,}/g;

export function visibleQuestion(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(unseen, (letter) => `⟨U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`)
    .replace(blanks, (run) => ` ⟨${countOf(run.length)} ${nameOf(run)}⟩ `);
}

function nameOf(run: string): string {
  return run.startsWith(" ") ? "spaces" : run.startsWith("\n") ? "line breaks" : "tabs";
}

/** 4,212 */
export function countOf(number: number): string {
  return number.toLocaleString("en-US");
}
