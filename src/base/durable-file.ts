/** Files that are complete or absent: temporary file, fsync, rename, fsync of the directory. */
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

export type DiskProblem = "full" | "read-only" | "failing";

const probeBytes = 4096;

/**
 * Checks by a write whether a directory's disk is writable: a disk that failed (a cable, a bad sector, a network mount)
 * refuses writes that its permissions and mount options allow. Null if writable, or if the error is not the disk's.
 */
export function probeDisk(directory: string): DiskProblem | null {
  // Named like an interrupted write: `doctor` removes it after a crash.
  const path = join(directory, `.probe.${process.pid}-0.tmp`);
  try {
    const file = openSync(path, "w", 0o600);
    try {
      writeFileSync(file, Buffer.alloc(probeBytes, 1));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    rmSync(path, { force: true });
    return null;
  } catch (error) {
    const problem = diskProblem(error);
    if (problem === "full") rmSync(path, { force: true });
    return problem;
  }
}

/** The disk problem that an error indicates, or null. */
export function diskProblem(error: unknown): DiskProblem | null {
  if (hasNoRoom(error)) return "full";
  switch ((error as NodeJS.ErrnoException | null)?.code ?? "") {
    case "EROFS":
      return "read-only";
    case "EIO":
    case "ENXIO":
    case "ENODEV":
    case "ESTALE":
      return "failing";
    default:
      return null;
  }
}

export function writeDurable(path: string, text: string, mode = 0o600): void {
  replaceFile(path, text, mode, fsyncSync);
  syncDirectory(dirname(path));
}

/** Like `writeDurable`, but never replaces an existing file. Returns whether it wrote. */
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

/** By a link, because a rename would replace an existing file. */
function placeNew(temporary: string, path: string): void {
  try {
    linkSync(temporary, path);
  } catch (error) {
    // Without hard links, a file created at this very moment is replaced.
    const { code } = error as NodeJS.ErrnoException;
    if ((code !== "EPERM" && code !== "ENOTSUP") || existsSync(path)) throw error;
    return renameSync(temporary, path);
  }
  rmSync(temporary);
}

/** Readers see the old file or the new one, but it is not flushed: for content that a reboot invalidates anyway. */
export function writeAtomically(path: string, text: string, mode = 0o600): void {
  replaceFile(path, text, mode, () => undefined);
}

/** Like `writeAtomically`, unless the file already has this text: reading is cheaper than replacing. */
export function keepWritten(path: string, text: string, mode = 0o600): void {
  try {
    if (readFileSync(path, "utf8") === text) return;
  } catch {
    // Absent or unreadable: write it.
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
  // Unique among writers of this process, and of a crashed process with the same pid.
  const unique = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const temporary = join(dirname(path), `.${basename(path)}.${unique}.tmp`);
  const file = openSync(temporary, "wx", mode);
  try {
    try {
      reachNow(`write.${basename(path)}`);
      // Not writeSync: on an almost full disk it writes a part without an error.
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

/** Whether this is the name of a temporary file of `replaceFile`. */
export function isTemporary(name: string): boolean {
  return /^\..+\.\d+-[0-9a-z]+\.tmp$/.test(name);
}

/**
 * Removes temporary files that interrupted writes of `path` left. Only for files that no other process writes: it would
 * remove the temporary file of a write in progress.
 */
export function dropTemporaries(path: string): void {
  const directory = dirname(path);
  for (const name of temporariesIn(directory, basename(path))) rmSync(join(directory, name), { force: true });
}

/** Temporary files of interrupted writes in a directory: those of `name`, or all. */
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

/** The parsed JSON of a file; `damaged` if it cannot be read or parsed. */
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

/** Whether the disk or the user's quota is full. */
export function hasNoRoom(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}
