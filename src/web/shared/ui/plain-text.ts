/**
 * Words that come from an agent, on one line of ours: without control characters, and without those that turn the
 * direction of what follows. They would let a command look like another one.
 */
import { hiddenCharacters } from "../../../model/hidden-characters.ts";

const unseen = new RegExp(String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f${hiddenCharacters}]`, "gu");

export function plainText(text: string): string {
  return text.replace(unseen, "");
}
