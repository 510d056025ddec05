/**
 * Text of an agent or a repository as it may be shown: characters that turn the direction of the line, or that move a
 * cursor, are written out, so that what is read is what is there.
 */
const hidden = /\p{Bidi_Control}|(?![\t\n])\p{Cc}/gu;

export function visibleText(text: string): string {
  return text.replace(hidden, (letter) => `⟨U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
