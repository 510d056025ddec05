/**
 * Appends stored lines to an agent's `in`. Each line is on disk first, with its offset; the file's size shows how much of
 * it was written (none, part, all), so it is completed exactly once, wherever a crash comes.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { reach } from "../base/test-points.ts";
import type { InputRow } from "../ports/store.ts";

export type Appended =
  | { appended: true; size: number }
  /** `in` is not as the rows say: another process writes to it, or it was damaged. Nothing was written. */
  | { appended: false; why: string };

export type Bell = "rung" | "no-feeder" | "not-there";

/** A daemon that lost its lock must not write. */
export async function appendRows(
  directory: string,
  rowsAfter: (offset: number) => InputRow[],
  stillOurs: () => boolean,
): Promise<Appended> {
  if (!stillOurs()) return { appended: false, why: "this daemon no longer holds the lock of its home" };
  const file = openSync(join(directory, "in"), constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW);
  try {
    let { size } = fstatSync(file);
    for (const row of rowsAfter(size)) {
      const fault = faultOf(file, row, size);
      if (fault !== null) return { appended: false, why: fault };
      await reach("outbox.append");
      // Another process may have written while the test point paused us: the size is checked right before the write.
      if (fstatSync(file).size !== size) return { appended: false, why: "another process writes to the agent's input" };
      writeAll(file, Buffer.from(row.text!, "utf8").subarray(size - row.offset));
      size = row.offset + row.length;
    }
    return { appended: true, size };
  } finally {
    closeSync(file);
  }
}

/** Wakes the feeder. Never waits: a stopped feeder must not block the daemon. */
export function ring(directory: string, word: "r" | "q" = "r"): Bell {
  let file: number;
  try {
    file = openSync(join(directory, "bell"), constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The keeper has not created it yet: its feeder starts by reading everything.
    return code === "ENOENT" ? "not-there" : "no-feeder";
  }
  try {
    if (!fstatSync(file).isFIFO()) return "no-feeder";
    writeSync(file, `${word}\n`);
    return "rung";
  } catch (error) {
    // Full of rings that the feeder has not read yet: one more adds nothing.
    return (error as NodeJS.ErrnoException).code === "EAGAIN" ? "rung" : "no-feeder";
  } finally {
    closeSync(file);
  }
}

/** Why this row must not be appended at this size, or null. */
function faultOf(file: number, row: InputRow, size: number): string | null {
  if (row.text === null) return `the agent's input ends at byte ${size}, before a line that was already written`;
  if (size < row.offset) return `the agent's input ends at byte ${size}, but should reach byte ${row.offset}`;
  const part = size - row.offset;
  if (part === 0) return null;
  const written = Buffer.alloc(part);
  readSync(file, written, 0, part, row.offset);
  const expected = Buffer.from(row.text, "utf8").subarray(0, part);
  return written.equals(expected) ? null : "the agent's input holds something else than what was to be written";
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at);
}
