/** Captures panes, many in one call, and finds a text on a screen that wraps and frames it. */
import { randomBytes } from "node:crypto";
import type { Tmux } from "./tmux.ts";
import type { InputLine } from "../ports/agents.ts";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../base/attempt.ts";
import { listProcesses } from "../base/pid.ts";
import { run } from "../base/run.ts";

const deadlineMs = 2000;

/** Null if unknown. Runs a process, so it is checked last, when everything else shows that the agent is ready. */
export async function isRaw(tty: string): Promise<boolean | null> {
  const ran = await run(["stty", process.platform === "darwin" ? "-f" : "-F", tty, "-a"], { deadlineMs });
  if (ran?.code !== 0) return null;
  return /(^|\s)-icanon\b/.test(ran.stdout) && /(^|\s)-echo\b/.test(ran.stdout);
}

/** The system call number of `read` per architecture. */
const readCalls: Partial<Record<NodeJS.Architecture, string>> = { x64: "0", arm64: "63" };
/** Waits whose files the kernel does not show: `select` and `poll`. */
const opaqueWaits = /poll_schedule|do_poll|do_sys_poll|do_select|core_sys_select/;

/** Whether a program in the foreground of the pane waits for input from its terminal. Null if unknown. */
export function readsTerminal({ pid, tty }: { pid: number; tty: string }): boolean | null {
  if (process.platform !== "linux") return null;
  const group = textOf(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, "")
    .split(" ")[5];
  const members = listProcesses().filter((one) => String(one.group) === group);
  const found = members.flatMap((one) =>
    namesIn(`/proc/${one.pid}/task`).map((thread) => waitsFor(`/proc/${one.pid}/task/${thread}`, tty)),
  );
  if (found.includes(true)) return true;
  return found.length === 0 || found.includes(null) ? null : false;
}

function waitsFor(task: string, tty: string): boolean | null {
  const [call, argument] = textOf(`${task}/syscall`)?.split(" ") ?? [];
  const wait = textOf(`${task}/wchan`) ?? "";
  const isTty = (fd: string | number): boolean => linkOf(`${task}/fd/${fd}`) === tty;
  if (/epoll|ep_poll/.test(wait)) {
    const watched = namesIn(`${task}/fdinfo`).flatMap((fd) => [
      ...(textOf(`${task}/fdinfo/${fd}`) ?? "").matchAll(/^tfd:\s*(\d+)/gm),
    ]);
    return watched.some((match) => isTty(match[1]!));
  }
  if (opaqueWaits.test(wait)) return null;
  const isRead = call === readCalls[process.arch];
  if (call !== undefined && readCalls[process.arch] !== undefined) return isRead && isTty(Number(argument));
  if (wait === "" || wait === "0") return null;
  return /^(n_tty_read|tty_read|wait_woken)$/.test(wait);
}

const textOf = (file: string): string | null => attempt(() => readFileSync(file, "latin1"), null);
const namesIn = (directory: string): string[] => attempt(() => readdirSync(directory), []);
const linkOf = (file: string): string | null => attempt(() => readlinkSync(file), null);

/** `hidden`: the screen has no such line, so something else receives the keys. */
export type InputSeen = { is: "hidden" } | { is: "empty" } | { is: "text"; text: string };

export function inputOn(rules: InputLine, screen: string): InputSeen {
  // The last one: earlier prompts look the same.
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
/** A shorter piece of a prompt may be text that the user typed. */
const enough = 12;

/** Whether the line contains this prompt and nothing else: all of it, the part that fits, or a placeholder. */
export function holds(line: string, prompt: string): boolean {
  const [shown, wanted] = [normalise(line), normalise(prompt)];
  if (shown === wanted) return true;
  if (onePlaceholder.test(shown)) return true;
  return shown.length >= enough && wanted.includes(shown);
}

/**
 * Whether this prompt ends right at the cursor, in rows from the top of the screen down to the cursor's: it was typed
 * there and not sent. For agents whose input line is not known. Rows with wide characters cannot be compared.
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

/** Agents run these themselves, and do not confirm them. */
export function isCommand(prompt: string): boolean {
  return /^[/!]/.test(prompt);
}

/** Whether two texts are the same prompt, however a screen or a transcript lays them out. */
export function same(one: string, other: string): boolean {
  return normalise(typeable(one)) === normalise(typeable(other));
}

/** After `@word` a list of files opens and receives the Enter. */
export function endsInMention(prompt: string): boolean {
  return /(^|\s)@\S*$/.test(prompt);
}

/** Line breaks and tabs stay; every other control character could press a key or end the bracketed paste. */
export function typeable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what must go
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

/** The rendered screens of some panes, with lines above; panes that are gone are left out. */
export async function captureScreens(
  tmux: Tmux,
  panes: readonly string[],
  linesAbove = 0,
): Promise<Map<string, string>> {
  const screens = new Map<string, string>();
  if (panes.length === 0) return screens;
  const mark = `holdfast-${randomBytes(8).toString("hex")}`;
  // One call for all panes; a line with the mark precedes each screen. A missing pane ends the call early.
  const commands = panes.flatMap((pane) => [
    ["display-message", "-p", "-t", pane, `${mark} #{pane_id}`],
    ["capture-pane", "-p", "-J", "-S", `-${linesAbove}`, "-t", pane],
  ]);
  const reply = await tmux.run({ commands });
  if (reply.is === "ok") {
    for (const part of reply.stdout.split(`${mark} `).slice(1)) {
      const end = part.indexOf("\n");
      screens.set(part.slice(0, end), part.slice(end + 1));
    }
    return screens;
  }
  if (reply.is !== "refused" || panes.length === 1) return screens;
  for (const pane of panes) {
    for (const [target, text] of await captureScreens(tmux, [pane], linesAbove)) screens.set(target, text);
  }
  return screens;
}

/** The last lines of a screen, empty ones at its end left out. */
export function lastLines(screen: string, lines: number): string[] {
  const all = screen.split("\n").map((line) => line.trimEnd());
  while (all.at(-1) === "") all.pop();
  return all.slice(-lines);
}

/** Without frames and blanks: agents wrap text and draw boxes around it. */
export function normalise(text: string): string {
  return text.replaceAll(/[\s\u00a0\u2500-\u259f|]+/g, "");
}

export function countOf(haystack: string, needle: string): number {
  if (needle === "") return 0;
  let count = 0;
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + needle.length)) count += 1;
  return count;
}
