/**
 * One line of words and the commonest marks between them: nothing that markdown reads as anything else, so it need not
 * be read as markdown at all. When in doubt it is not plain.
 */
const oneLine = /^(?!\d+[.)])[\p{L}\p{N}][\p{L}\p{N} ,.;'"()%?!/]*\n?$/u;
/** Longer ones are rarely plain to their end. */
const longest = 2_000;

export function isPlain(text: string): boolean {
  return text.length <= longest && oneLine.test(text) && !/www\./i.test(text);
}

/** What an agent wrote, made harmless to look at: no escapes, no characters that make a line read other than it is. */

/* oxlint-disable no-control-regex -- control characters are what is looked for */
/** Escape sequences of terminals: CSI, OSC and its kin up to their end, and the two-byte ones. */
const escapes =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]/g;
/** Tab and line feed stay. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/* oxlint-enable no-control-regex */
/** Embeddings, overrides and isolates: with them `exe.txt` can be shown where `txt.exe` stands. */
const bidi = /[\u202a-\u202e\u2066-\u2069]/g;

/** Text of a program: without colors, and with each line as it stood last before its carriage return. */
export function plainOutput(text: string): string {
  return safeText(
    text
      .replace(escapes, "")
      .replaceAll("\r\n", "\n")
      .replace(/[^\n]*\r(?=[^\n])/g, ""),
  );
}

export function safeText(text: string): string {
  return text.replace(bidi, nameOf).replace(controls, "");
}

/** Shown, not hidden: a person should see that somebody tried. */
function nameOf(character: string): string {
  return `[U+${character.codePointAt(0)?.toString(16).toUpperCase()}]`;
}

/** Only these leave the page; null for everything else, also for what is no address at all. */
export function safeAddress(url: string): string | null {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  return scheme !== undefined && ["http", "https", "mailto"].includes(scheme) ? url.trim() : null;
}
