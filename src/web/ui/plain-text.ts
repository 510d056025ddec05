/**
 * Words that come from an agent, on one line of ours: without control characters, and without those that turn the
 * direction of what follows. They would let a command look like another one.
 */
// eslint-disable-next-line no-control-regex
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function plainText(text: string): string {
  return text.replace(unseen, "");
}
