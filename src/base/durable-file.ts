/** Files that are whole or not there: temporary file, fsync, rename, fsync of the directory. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, basename } from "node:path";
import { reachNow } from "./test-points.ts";

export function writeDurable(path: string, text: string, mode = 0o600): void {
  replaceFile(path, text, mode, fsyncSync);
  syncDirectory(dirname(path));
}

/** As `writeDurable`, where no file is there yet: one that is, or that appears meanwhile, stays as it is. Returns whether it wrote. */
export function createDurable(path: string, text: string, mode = 0o600): boolean {
  try {
    replaceFile(path, text, mode, fsyncSync, placeNew);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  syncDirectory(dirname(path));
  return true;
}

/** By a link, because a rename would replace a file that is there. */
function placeNew(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch (error) {
    // Some file systems have no links: there a file that appears in this instant is replaced.
    const { code } = error as NodeJS.ErrnoException;
    if ((code !== "EPERM" && code !== "ENOTSUP") || existsSync(path)) throw error;
    return renameSync(temporary, path);
  }
  rmSync(temporary);
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

function replaceFile(
  path: string,
  text: string,
  mode: number,
  flush: (file: number) => void,
  place: (temporary: string, path: string) => void = renameSync,
): void {
  // Two writers of one process, and one that has the pid of a writer that crashed, still get names of their own.
  const unique = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const temporary = join(dirname(path), `.${basename(path)}.${unique}.tmp`);
  const file = openSync(temporary, "wx", mode);
  try {
    try {
      reachNow(`write.${basename(path)}`);
      // Not writeSync: on a disk with room for a part it writes that part and says nothing.
      writeFileSync(file, text);
      flush(file);
    } finally {
      closeSync(file);
    }
    place(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Whether a file is what an interrupted write left: the names that `replaceFile` gives. */
export function isTemporary(name: string): boolean {
  return /^\..+\.\d+-[0-9a-z]+\.tmp$/.test(name);
}

/**
 * Removes what interrupted writes of `path` left beside it. Only for files that no other process writes: it would take
 * the temporary file of a write in progress.
 */
export function dropTemporaries(path: string): void {
  const directory = dirname(path);
  for (const name of temporariesIn(directory, basename(path))) rmSync(join(directory, name), { force: true });
}

/** What interrupted writes of `name` left in a directory; of any file where none is named. */
export function temporariesIn(directory: string, name = ""): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names.filter((one) => isTemporary(one) && (name === "" || one.startsWith(`.${name}.`)));
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
