/**
 * Text of an agent or a repository as it may be shown: characters that turn the direction of the line, or that move a
 * cursor, are written out, so that what is read is what is there.
 */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function visibleText(text: string): string {
  return text.replace(hidden, (letter) => `⟨U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
