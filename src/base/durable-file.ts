/** Files that are whole or not there: temporary file, fsync, rename, fsync of the directory. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, basename } from "node:path";

export function writeDurable(path: string, text: string, mode = 0o600): void {
  replaceFile(path, text, mode, fsyncSync);
  syncDirectory(dirname(path));
}

/** Whole or as it was to every reader, but not flushed: for what a reboot makes untrue anyway. */
export function writeAtomically(path: string, text: string, mode = 0o600): void {
  replaceFile(path, text, mode, () => undefined);
}

/** As `writeAtomically`, where the file does not say this already: reading is cheaper than replacing. */
export function keepWritten(path: string, text: string, mode = 0o600): void {
  try {
    if (readFileSync(path, "utf8") === text) return;
  } catch {
    // Not there, or not to be read: it is written.
  }
  writeAtomically(path, text, mode);
}

function replaceFile(path: string, text: string, mode: number, flush: (file: number) => void): void {
  // Two writers of one process, and one that has the pid of a writer that crashed, still get names of their own.
  const unique = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const temporary = join(dirname(path), `.${basename(path)}.${unique}.tmp`);
  const file = openSync(temporary, "wx", mode);
  try {
    try {
      // Not writeSync: on a disk with room for a part it writes that part and says nothing.
      writeFileSync(file, text);
      flush(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Whether a file is what an interrupted write left: the names that `replaceFile` gives. */
export function isTemporary(name: string): boolean {
  return /^\..+\.\d+-[0-9a-z]+\.tmp$/.test(name);
}

export function syncDirectory(directory: string): void {
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** The parsed JSON of a file; `absent` when there is none, `damaged` when it does not parse. */
export function readJson(
  path: string,
): { is: "known"; value: unknown } | { is: "absent" } | { is: "damaged"; why: string } {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { is: "absent" };
    return { is: "damaged", why: (error as Error).message };
  }
  try {
    return { is: "known", value: JSON.parse(text) };
  } catch (error) {
    return { is: "damaged", why: (error as Error).message };
  }
}

/** Whether the disk, or the person's share of it, is full. */
export function hasNoRoom(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}
