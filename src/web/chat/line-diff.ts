/** A line diff of two texts, for tool cards; the changes view shows git's diff. */
export interface LineChange {
  sign: " " | "+" | "-";
  text: string;
}
export type Hunk = { lines: LineChange[]; skipped: number };

/** Above this table size, lines are not compared: 1,000 by 1,000 lines take a few milliseconds. */
const mostCells = 1_000_000;

export function diffLines(before: string, after: string): LineChange[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const middle = compare(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return [...marked(" ", old.slice(0, start)), ...middle, ...marked(" ", old.slice(old.length - end))];
}

/** The changed lines with some context; `skipped` counts the lines omitted before each hunk. */
export function hunksOf(lines: readonly LineChange[], around = 3): Hunk[] {
  const shown = new Uint8Array(lines.length);
  for (const [index, { sign }] of lines.entries()) {
    if (sign !== " ") shown.fill(1, Math.max(0, index - around), index + around + 1);
  }
  const hunks: Hunk[] = [];
  let skipped = 0;
  for (const [index, line] of lines.entries()) {
    if (shown[index] === 0) skipped += 1;
    else if (index > 0 && shown[index - 1] === 1) hunks.at(-1)?.lines.push(line);
    else {
      hunks.push({ lines: [line], skipped });
      skipped = 0;
    }
  }
  return hunks;
}

function compare(old: string[], now: string[]): LineChange[] {
  if (old.length * now.length > mostCells) return [...marked("-", old), ...marked("+", now)];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        old[i] === now[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
    }
  }
  const lines: LineChange[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const down = i < old.length ? (common[(i + 1) * width + j] ?? 0) : -1;
    const right = j < now.length ? (common[i * width + j + 1] ?? 0) : -1;
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ sign: " ", text: old[i] ?? "" });
      i += 1;
      j += 1;
    } else if (down >= right) lines.push({ sign: "-", text: old[i++] ?? "" });
    else lines.push({ sign: "+", text: now[j++] ?? "" });
  }
  return lines;
}

function marked(sign: LineChange["sign"], lines: string[]): LineChange[] {
  return lines.map((text) => ({ sign, text }));
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
