/** The line that a prompt is typed into, as it stands on the screen. Pure. */
import type { InputLine } from "../ports/agents.ts";
import { normalise } from "./screen.ts";

/** `hidden`: no such line is on the screen, so that something else has the keys. */
export type InputSeen = { is: "hidden" } | { is: "empty" } | { is: "text"; text: string };

export function inputOn(rules: InputLine, screen: string): InputSeen {
  // The last one: prompts that were sent before look the same.
  const text = [...framed(rules, screen).matchAll(rules.line)].at(-1)?.[1];
  if (text === undefined) return { is: "hidden" };
  return text.search(rules.empty) >= 0 ? { is: "empty" } : { is: "text", text };
}

function framed({ edge }: InputLine, screen: string): string {
  const last = edge === undefined ? undefined : [...screen.matchAll(edge)].at(-1);
  if (last === undefined) return screen;
  const end = last.index - (screen.lastIndexOf("\n", last.index) + 1) + last[0].length;
  return screen
    .split("\n")
    .map((line) => line.slice(0, end))
    .join("\n");
}

/** How agents show a long paste instead of its text. */
export const pastePlaceholder = /\[pasted[^[\]]*\]/gi;
const onePlaceholder = new RegExp(`^${pastePlaceholder.source}$`, "i");
/** A shorter piece of a prompt may be what you typed yourself. */
const enough = 12;

/** Whether what is in the line is this prompt and nothing else: all of it, what fits of it, or what stands for it. */
export function holds(line: string, prompt: string): boolean {
  const [shown, wanted] = [normalise(line), normalise(prompt)];
  if (shown === wanted) return true;
  if (onePlaceholder.test(shown)) return true;
  return shown.length >= enough && wanted.includes(shown);
}

/**
 * Whether this prompt ends right at the cursor, in rows from the top of the screen down to the cursor's: it was typed
 * there and not sent. For agents whose input line is not known. Rows with wide characters tell nothing.
 */
export function endsAtCursor(rows: readonly string[], column: number, prompt: string): boolean {
  const row = rows.at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- one column each
  if (/[^\u0000-\u02ff\u2500-\u259f]/.test(row) || column === 0) return false;
  const before = row.padEnd(column).slice(0, column);
  const last = prompt.trimEnd().at(-1) ?? "";
  if (last === "" || !before.endsWith(last)) return false;
  const wanted = normalise(prompt);
  return wanted !== "" && normalise([...rows.slice(0, -1), before].join("")).endsWith(wanted);
}

/** Agents run these themselves instead of passing them on, and confirm nothing. */
export function isCommand(prompt: string): boolean {
  return /^[/!]/.test(prompt);
}

/** Whether two texts are the same prompt, however a screen or a transcript lays them out. */
export function same(one: string, other: string): boolean {
  return normalise(typeable(one)) === normalise(typeable(other));
}

/** A list of files or people opens behind `@word` and takes the Enter. */
export function endsInMention(prompt: string): boolean {
  return /(^|\s)@\S*$/.test(prompt);
}

/** Line breaks and tabs stay; every other control character could press a key or end the bracketed paste. */
export function typeable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what must go
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}
