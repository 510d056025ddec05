/**
 * Splits a postCreate line into an argv. Quotes and backslashes work as in a shell; nothing is expanded and nothing is
 * run by a shell. What only a shell could do is refused rather than passed on as a strange argument.
 */
import { HoldfastError } from "../../contract/error.ts";

const shellOnly = new Set(["|", "&", ";", "<", ">", "(", ")", "$", "`", "*", "?", "~", "\n"]);

export function splitArgv(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let index = 0; index < line.length; index += 1) {
    const char = line[index]!;
    if (quote === "'") {
      if (char === "'") quote = null;
      else word += char;
    } else if (char === "\\") {
      index += 1;
      const next = line[index];
      if (next === undefined) throw refuse(line, "it ends with a backslash");
      // Inside double quotes a backslash only escapes what would otherwise mean something.
      word = (word ?? "") + (quote === '"' && next !== '"' && next !== "\\" ? `\\${next}` : next);
    } else if (quote === '"') {
      if (char === '"') quote = null;
      else if (char === "$" || char === "`") throw refuse(line, `"${char}" needs a shell`);
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === " " || char === "\t") {
      if (word !== null) words.push(word);
      word = null;
    } else if (shellOnly.has(char)) {
      throw refuse(line, char === "\n" ? "it has more than one line" : `"${char}" needs a shell`);
    } else {
      word = (word ?? "") + char;
    }
  }
  if (quote !== null) throw refuse(line, "a quote is not closed");
  if (word !== null) words.push(word);
  if (words.length === 0) throw refuse(line, "it is empty");
  return words;
}

function refuse(line: string, why: string): HoldfastError {
  return new HoldfastError("invalid", `postCreate cannot run \`${line}\`: ${why}.`, {
    hint: "Commands are not run by a shell. Quote the argument, or name the shell: sh -c '…'.",
  });
}
