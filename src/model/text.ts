/** Text from outside (agents, trackers, logs, users) made safe to show, to paste or to pass to an agent. */

/**
 * Invisible characters, for a character class with the flag `u`: soft hyphen, bidi controls, zero-width characters, line
 * separators, invisible operators, annotations, tag characters and variation selectors. They can hide text that a model
 * reads and a user does not see.
 */
export const hiddenCharacters = String.raw`\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}`;

/** All but the zero-width joiner, which combines emoji. */
const hidden = new RegExp(String.raw`(?!\u200d)[${hiddenCharacters}]`, "gu");
/** Joiners that join no emoji, and variation selectors after the first one. */
const misused =
  /(?<!\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d|\u200d(?!\p{Extended_Pictographic})|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+/gu;

/** Removes characters that a terminal would obey, that reorder the text, or that are invisible. */
export function inert(text: string): string {
  return (
    text
      .replaceAll("\r\n", "\n")
      // Color sequences of logs, complete: without the escape character the remainder is noise.
      // oxlint-disable-next-line no-control-regex -- these are removed
      .replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "")
      // oxlint-disable-next-line no-control-regex -- these are removed
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
      .replaceAll(/[\u2028\u2029]/g, "\n")
      .replaceAll(hidden, "")
      .replaceAll(misused, "")
  );
}

/** Cuts text with a mark that states how much is missing: an agent's text is never cut silently. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const code = text.charCodeAt(max - 1);
  const end = code >= 0xd800 && code <= 0xdbff ? max - 1 : max;
  return `${text.slice(0, end)}… (${(text.length - end).toLocaleString("en-US")} more characters)`;
}

/** Keeps the beginning, where an issue or a thread states its subject. */
export function clip(text: string, maxCharacters: number): string {
  const plain = inert(text);
  return plain.length <= maxCharacters
    ? plain
    : `${plain.slice(0, maxCharacters)}\n[… cut, ${plain.length - maxCharacters} more characters]`;
}

/** Keeps the end, where a log has the failure. */
export function tail(lines: readonly string[], maxLines: number, maxCharacters: number): string {
  const text = inert(lines.slice(-maxLines).join("\n"));
  return text.length <= maxCharacters ? text : `[…]${text.slice(-maxCharacters)}`;
}

/** The text on one line, for a title. */
export function oneLine(text: string, maxCharacters: number): string {
  const line = inert(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= maxCharacters ? line : `${line.slice(0, maxCharacters - 1)}…`;
}

/** A Markdown code block with a fence that the text does not contain, so the text cannot end its own quotation. */
export function quoteBlock(text: string, label: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${label}\n${text}\n${fence}`;
}

/** A hash that distinguishes contents (FNV-1a, 64 bits); not for secrets. */
export function contentKey(text: string): string {
  let [high, low] = [0x811c9dc5, 0xc2b2ae35];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193) >>> 0;
    high = Math.imul(high ^ (code + (low >>> 24)), 0x01000193) >>> 0;
  }
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}

/** Characters that a terminal obeys or does not show. */
const unseen = new RegExp(String.raw`[\u0000-\u001f\u007f-\u009f${hiddenCharacters}]`, "u");

/** Quotes a word for a POSIX shell. Invisible characters are escaped the way bash, zsh and ksh read them. */
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

const maxLastLine = 200;

/** Complete escape sequences, then the control characters that remain. */
// oxlint-disable-next-line no-control-regex -- agents may print anything
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
// oxlint-disable-next-line no-control-regex -- as above
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
/** Direction marks and overrides, which would reorder the text around them. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The last meaningful line of an agent's text, for a card or a title; null if there is none. Skips fences and rules. */
export function lastLineOf(text: string): string | null {
  const lines = text
    .replaceAll("\r\n", "\n")
    .replaceAll(escapes, "")
    .split(/[\n\r\u2028\u2029]/)
    .map((line) => line.replaceAll(controls, "").replaceAll(directions, "").replaceAll(/\s+/g, " ").trim());
  const line = lines.findLast((candidate) => /[\p{L}\p{N}\p{S}]/u.test(candidate) && !/^[`~=-]+$/.test(candidate));
  if (line === undefined) return null;
  const characters = Array.from(line.toWellFormed());
  return characters.length <= maxLastLine ? characters.join("") : `${characters.slice(0, maxLastLine - 1).join("")}…`;
}

/** x-2 before x-10. */
export function compareNaturally(left: string, right: string): number {
  return left === right ? 0 : compareKeys(naturalKey(left), naturalKey(right));
}

/** Sorts in natural order of the given text, which is split once per value instead of at every comparison. */
export function sortedNaturally<T>(values: readonly T[], text: (value: T) => string): T[] {
  return values
    .map((value) => ({ value, key: naturalKey(text(value)) }))
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ value }) => value);
}

type NaturalKey = readonly (string | number)[];

function naturalKey(text: string): NaturalKey {
  return (text.match(/\d+|\D+/g) ?? []).map((part) => (/^\d/.test(part) ? Number(part) : part));
}

function compareKeys(a: NaturalKey, b: NaturalKey): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a[at]!;
    const y = b[at]!;
    if (x === y) continue;
    if (typeof x === "number" && typeof y === "number") return x - y;
    return String(x) < String(y) ? -1 : 1;
  }
  return a.length - b.length;
}

export function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** 950, 1.2k, 340k. */
export function formatCount(n: number): string {
  if (n < 1_000) return String(n);
  return n < 100_000 ? `${(n / 1_000).toFixed(1).replace(/\.0$/, "")}k` : `${Math.round(n / 1_000)}k`;
}

/** A fragment from the daemon or an agent as a sentence: capitalized, with a period. */
export function asSentence(reason: string): string {
  const text = reason.trim();
  if (text === "") return "";
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
