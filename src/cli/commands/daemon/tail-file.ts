/** The end of a file that may be rotated while it is read. */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

const blockBytes = 64 * 1024;
const pollMs = 200;

/** The last `count` lines; none when there is no such file. */
export function lastLines(path: string, count: number): { lines: string[]; end: number; inode: number } | null {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  try {
    const { size, ino } = fstatSync(file);
    let from = size;
    let held = Buffer.alloc(0);
    while (from > 0 && held.filter((byte) => byte === newline).length <= count) {
      const length = Math.min(blockBytes, from);
      from -= length;
      const block = Buffer.alloc(length);
      readSync(file, block, 0, length, from);
      held = Buffer.concat([block, held]);
    }
    const lines = held.toString("utf8").split("\n");
    // Only whole lines: a last one that is still being written comes with the next look.
    const rest = lines.pop() ?? "";
    return { lines: count === 0 ? [] : lines.slice(-count), end: size - Buffer.byteLength(rest), inode: ino };
  } finally {
    closeSync(file);
  }
}

const newline = 0x0a;

/** Lines behind `end` as they come, over rotation, for ever. */
export async function* followFile(path: string, start: { end: number; inode: number }): AsyncGenerator<string> {
  let { end, inode } = start;
  for (;;) {
    const now = statSync(path, { throwIfNoEntry: false });
    // Rotated: what was written to the old file after our last look has moved to its first successor.
    if (now !== undefined && now.ino !== inode) {
      const old = statSync(`${path}.1`, { throwIfNoEntry: false });
      if (old?.ino === inode) yield* readFrom(`${path}.1`, end).lines;
      [inode, end] = [now.ino, 0];
    }
    if (now !== undefined && now.size > end) {
      const read = readFrom(path, end);
      end = read.end;
      yield* read.lines;
    }
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
}

function readFrom(path: string, from: number): { lines: string[]; end: number } {
  const file = openSync(path, "r");
  try {
    const block = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
    const read = readSync(file, block, 0, block.length, from);
    const lines = block.subarray(0, read).toString("utf8").split("\n");
    const rest = lines.pop() ?? "";
    return { lines, end: from + read - Buffer.byteLength(rest) };
  } finally {
    closeSync(file);
  }
}
