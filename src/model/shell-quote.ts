/** One helper for every command that a user may paste: a word from outside is never code there. */
import { hiddenCharacters } from "./hidden-characters.ts";

/** Characters that a terminal obeys or does not show. */
const unseen = new RegExp(String.raw`[\u0000-\u001f\u007f-\u009f${hiddenCharacters}]`, "u");

/** The word as a POSIX shell reads it. Characters that cannot be seen are written out, as bash, zsh and ksh read them. */
export function quoteShellWord(word: string): string {
  if (/^[A-Za-z0-9_.,:@/+%-][A-Za-z0-9_.,:=@/+%-]*$/.test(word)) return word;
  if (!unseen.test(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  const written = Array.from(word, (letter) =>
    letter === "'" || letter === "\\" ? `\\${letter}` : unseen.test(letter) ? escaped(letter) : letter,
  );
  return `$'${written.join("")}'`;
}

function escaped(letter: string): string {
  const code = letter.codePointAt(0)!;
  if (code > 0xffff) return `\\U${code.toString(16).padStart(8, "0")}`;
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
