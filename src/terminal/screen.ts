/** What panes show, many in one call, and how to find a text on a screen that wraps and frames it. */
import { crypto } from "../base/digest.ts";
import type { Tmux } from "./tmux.ts";

/** The rendered screens of some panes, with so many lines above; a pane that is gone is left out. */
export async function captureScreens(
  tmux: Tmux,
  panes: readonly string[],
  linesAbove = 0,
): Promise<Map<string, string>> {
  const screens = new Map<string, string>();
  if (panes.length === 0) return screens;
  const mark = `holdfast-${crypto().randomBytes(8).toString("hex")}`;
  // One call for all of them; a line with the mark opens each screen. A missing pane ends the call early.
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

/** Frames and blanks do not count: an agent wraps text and draws a box around it. */
export function normalise(text: string): string {
  return text.replaceAll(/[\s\u00a0\u2500-\u259f|]+/g, "");
}

export function countOf(haystack: string, needle: string): number {
  if (needle === "") return 0;
  let count = 0;
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + needle.length)) count += 1;
  return count;
}
