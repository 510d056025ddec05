/** Translates SQLite's errors for users. */
import { hasNoRoom, type DiskProblem, diskProblem, probeDisk } from "../base/durable-file.ts";
import { accessSync, constants, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError, messageOf } from "../contract/errors.ts";

/** Paths for error messages. */
export interface DatabasePaths {
  path: string;
  backupsDirectory: string;
}

/** Primary result codes of SQLite (the low byte of the extended ones). */
const busy = 5;
const readOnly = 8;
const ioError = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const notADatabase = 26;
/**
 * Other codes for a full disk or an exhausted quota: SQLite uses `full` only for ENOSPC from a write, not for EDQUOT,
 * nor if there is no space for the shared memory file or the last write-back.
 */
const ioWrite = 778;
const ioSync = 1034;
const ioShmSize = 4874;

export function isDiskFull(error: unknown, paths: DatabasePaths): boolean {
  if (hasNoRoom(error)) return true;
  const code = resultCode(error);
  if (code === null || (code & 0xff) === full) return code !== null;
  if (code !== ioWrite && code !== ioSync && code !== ioShmSize) return false;
  // A disk that fails, or was remounted read-only because of that, has the same codes [DAEMON-24].
  const problem = probeOf(paths);
  return problem === null || problem === "full";
}

/** SQLite does not report the cause, so probe the disk. */
function probeOf({ path }: DatabasePaths): DiskProblem | null {
  return path === ":memory:" ? null : probeDisk(dirname(path));
}

/** The error to show for a failed read or write; errors of neither SQLite nor the disk are returned unchanged. */
export function storageError(error: unknown, paths: DatabasePaths): unknown {
  if (isDiskFull(error, paths)) return diskFull(paths, error);
  const code = resultCode(error);
  if (code === null) {
    return isFileError(error) ? (diskFailure(diskProblem(error), error, paths) ?? other(error, paths)) : error;
  }
  switch (code & 0xff) {
    case corrupt:
      return damaged(`The database ${paths.path} is damaged (${messageOf(error)}).`, paths, error);
    case notADatabase:
      return damaged(`${paths.path} is not a Holdfast database, or its first bytes are damaged.`, paths, error);
    case readOnly:
      return notWritable(error, paths);
    case cannotOpen:
      // The error of a read-only disk, where the log's files cannot be created.
      if (!isWritable(dirname(paths.path))) return notWritable(error, paths);
      return failure(`Cannot open the database ${paths.path}.`, error, {
        hint: `Check that ${paths.path} is a file, and that this user may read and write it and its directory.`,
      });
    case ioError:
      return diskFailure(probeOf(paths), error, paths) ?? other(error, paths);
    case busy:
      return failure(`The database ${paths.path} is in use by another program.`, error, {
        hint: "Only one daemon may use it: check `holdfast info`, and close database tools that have it open.",
      });
    default:
      return other(error, paths);
  }
}

export function diskFull(paths: DatabasePaths, cause?: unknown): HoldfastError {
  return new HoldfastError("disk-full", `The disk of ${paths.path} is full; nothing was written.`, {
    hint: "Free some space and try again. Sessions can still be stopped, killed and deleted.",
    cause,
  });
}

export function foreignFile(what: string, paths: DatabasePaths): HoldfastError {
  return new HoldfastError("storage", `${paths.path} ${what}. Nothing was written to it.`, {
    hint: `Move ${paths.path} aside, or set HOLDFAST_HOME to another directory.`,
  });
}

function notWritable(error: unknown, paths: DatabasePaths): HoldfastError {
  return failure(`Cannot write the database ${paths.path}: it, or its disk, is read-only.`, error, {
    hint: `Make ${paths.path} and its directory writable for this user.`,
  });
}

/** By path: opening the file would drop SQLite's locks [STORE-22]. */
function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function diskFailure(problem: DiskProblem | null, error: unknown, paths: DatabasePaths): HoldfastError | null {
  if (problem === "read-only") return notWritable(error, paths);
  if (problem !== "failing") return null;
  return failure(`The disk of ${paths.path} is failing (I/O error); nothing was written.`, error, {
    hint: "Check the disk and the system log (dmesg). Committed data is safe; agents keep running.",
  });
}

function other(error: unknown, paths: DatabasePaths): HoldfastError {
  return failure(`The database ${paths.path} failed: ${messageOf(error)}.`, error, {
    hint: "Committed data is safe. Check the database: holdfast doctor",
  });
}

function failure(message: string, cause: unknown, options: { hint: string }): HoldfastError {
  return new HoldfastError("storage", message, { ...options, cause });
}

function damaged(message: string, paths: DatabasePaths, cause: unknown): HoldfastError {
  const [newest] = listBackups(paths.backupsDirectory);
  const advice =
    newest === undefined
      ? `There is no backup in ${paths.backupsDirectory}; sqlite3's .recover may save what is left of it.`
      : `The newest backup is ${newest}: copy it to ${paths.path}.`;
  return new HoldfastError("storage", `${message} Nothing was deleted or overwritten.`, {
    hint: `Move ${paths.path} with its -wal and -shm files to a safe place first. ${advice}`,
    cause,
  });
}

/** Newest first. */
function listBackups(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(".db"));
    // The name has the schema's version before the time; only the time decides.
    const time = (name: string): string => name.replace(/^.*?-v\d+-/, "");
    return names.sort((a, b) => (time(a) < time(b) ? 1 : -1)).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode : null;
}
