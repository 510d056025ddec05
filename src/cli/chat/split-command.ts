/** A pasteable command as argv, so that no shell has to run it. Knows quotes and backslashes, and nothing that expands. */
export function splitCommand(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === " ") {
      if (word !== null) words.push(word);
      word = null;
    } else if (letter === "'") {
      const end = closing(text, at + 1, "'");
      word = (word ?? "") + text.slice(at + 1, end);
      at = end;
    } else if (letter === '"') {
      const end = closing(text, at + 1, '"');
      word = (word ?? "") + text.slice(at + 1, end).replace(/\\(["\\$`])/g, "$1");
      at = end;
    } else if (letter === "\\") {
      at++;
      word = (word ?? "") + (text[at] ?? "");
    } else {
      word = (word ?? "") + letter;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

function closing(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    if (quote === '"' && text[at] === "\\") at++;
    else if (text[at] === quote) return at;
  }
  throw new Error(`unclosed quote in ${text}`);
}
