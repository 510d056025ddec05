/** JSON for stdout and stderr. JSON.stringify escapes C0 alone: a terminal also obeys C1, and people read bidi text. */
import { hiddenCharacters } from "../../model/text.ts";

/** C1, DEL, and characters that nobody sees. */
const unseen = new RegExp(String.raw`[\u007f-\u009f${hiddenCharacters}]`, "gu");

/** The same value in characters that are safe to print; they stand only in strings, so escaping them changes nothing. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(unseen, escaped);
}

function escaped(letter: string): string {
  return letter
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
