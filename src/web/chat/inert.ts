/**
 * One line of words and common punctuation that Markdown would not change, so it need not be parsed. When in doubt, not
 * plain. `bench/web.ts` measures it: the main thread time per streamed update.
 */
const oneLine = /^(?!\d+[.)])[\p{L}\p{N}][\p{L}\p{N} ,.;'"()%?!/]*\n?$/u;
/** Longer texts are rarely plain. */
const longest = 2_000;

export function isPlain(text: string): boolean {
  return text.length <= longest && oneLine.test(text) && !/www\./i.test(text);
}

/** Agent output made safe to show: no escape sequences, and no characters that disguise what a line contains. */

/* oxlint-disable no-control-regex -- control characters are what it searches for */
/** Escape sequences of terminals: CSI, OSC and its kin up to their end, and the two-byte ones. */
const escapes =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]/g;
/** Tab and line feed stay. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/* oxlint-enable no-control-regex */
/** Embeddings, overrides and isolates: they can make `txt.exe` look like `exe.txt`. */
const bidi = /[\u202a-\u202e\u2066-\u2069]/g;

/** Program output without colors, and with only the last version of lines overwritten by carriage returns. */
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

/** Shown, not removed: the user should see the attempt. */
function nameOf(character: string): string {
  return `[U+${character.codePointAt(0)?.toString(16).toUpperCase()}]`;
}

/** The address if it is http, https or mailto; else null. */
export function safeAddress(url: string): string | null {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  return scheme !== undefined && ["http", "https", "mailto"].includes(scheme) ? url.trim() : null;
}
