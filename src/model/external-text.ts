/** Text that somebody outside wrote, made fit to be put before an agent or a person: bounded, inert, and marked as such. */
import { hiddenCharacters } from "./hidden-characters.ts";

/** All but the joiner, which makes one emoji of two. */
const hidden = new RegExp(String.raw`(?!\u200d)[${hiddenCharacters}]`, "gu");
/** A joiner that joins no emoji, and selectors of a look behind the first one. */
const misused =
  /(?<!\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d|\u200d(?!\p{Extended_Pictographic})|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+/gu;

/** Keeps the beginning: what an issue or a thread is about stands there. */
export function clip(text: string, maxCharacters: number): string {
  const plain = inert(text);
  return plain.length <= maxCharacters
    ? plain
    : `${plain.slice(0, maxCharacters)}\n[… cut, ${plain.length - maxCharacters} more characters]`;
}

/** Keeps the end: a log says at its end what went wrong. */
export function tail(lines: readonly string[], maxLines: number, maxCharacters: number): string {
  const text = inert(lines.slice(-maxLines).join("\n"));
  return text.length <= maxCharacters ? text : `[…]${text.slice(-maxCharacters)}`;
}

/** One line of it, for a title. */
export function oneLine(text: string, maxCharacters: number): string {
  const line = inert(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters - 1)}…`;
}

/** Between two lines that the text itself cannot contain, so that it cannot end its own quotation. */
export function fenced(text: string, label: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${label}\n${text}\n${fence}`;
}

/** Without what a terminal would act on, what would make text read otherwise than it stands, and what nobody would see. */
export function inert(text: string): string {
  return (
    text
      .replaceAll("\r\n", "\n")
      // Colours of a log, whole: without its first character such a sequence is only noise.
      // oxlint-disable-next-line no-control-regex -- that is what is taken out
      .replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "")
      // oxlint-disable-next-line no-control-regex -- that is what is taken out
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
      .replaceAll(/[\u2028\u2029]/g, "\n")
      .replaceAll(hidden, "")
      .replaceAll(misused, "")
  );
}

/** Tells contents apart (FNV-1a, 52 bits); not for secrets. */
export function contentKey(text: string): string {
  let [high, low] = [0x811c9dc5, 0xc2b2ae35];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193) >>> 0;
    high = Math.imul(high ^ (code + (low >>> 24)), 0x01000193) >>> 0;
  }
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}
