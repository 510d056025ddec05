/** A configuration file: its text, a stamp to detect changes, and the problems found in it. */
import { isUtf8 } from "node:buffer";
import { type BigIntStats, constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { HoldfastError } from "../contract/errors.ts";

/** A stamp that changes when a file does. */
export interface FileStamp {
  mtimeMs: number;
  /** Device, inode, size and both times in nanoseconds. */
  key: string;
}

export function stampOf({ dev, ino, size, mtimeNs, ctimeNs, mtimeMs }: BigIntStats): FileStamp {
  return { mtimeMs: Number(mtimeMs), key: [dev, ino, size, mtimeNs, ctimeNs].join(":") };
}

/**
 * A file that changed this shortly before it was read may change again without a new timestamp (2 s on some file
 * systems), so such a reading is not reused.
 */
const settleMs = 2000;

export function isSettled(stamp: FileStamp, readAt: number): boolean {
  return readAt - stamp.mtimeMs > settleMs;
}

/** A hundred times a usual file; a larger one would take seconds to parse. */
export const maxConfigBytes = 1024 * 1024;

export type FileText =
  | { is: "text"; text: string; stamp: FileStamp }
  | { is: "absent" }
  /** `stamp` is null if the file could not be opened. */
  | { is: "refused"; problem: Problem; stamp: FileStamp | null };

export async function readConfigFile(file: string): Promise<FileText> {
  const refused = (message: string, hint: string | null, stamp: FileStamp | null, line = 1): FileText => ({
    is: "refused",
    problem: { file, line, column: 1, message, hint },
    stamp,
  });
  let handle: FileHandle;
  try {
    // Non-blocking, because opening a FIFO of that name would block forever.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (code === "ENOENT" || code === "ENOTDIR") return { is: "absent" };
    if (code === "EACCES") return refused("may not be read", "check its permissions", null);
    return refused(`cannot be read (${code})`, null, null);
  }
  try {
    const stat = await handle.stat({ bigint: true });
    const stamp = stampOf(stat);
    if (!stat.isFile()) return refused("is not a file", stat.isDirectory() ? "it is a directory" : null, stamp);
    const bytes = stat.size > maxConfigBytes ? null : await handle.readFile();
    // It may have grown since it was measured.
    if (bytes === null || bytes.length > maxConfigBytes)
      return refused("is larger than 1 MiB", "a configuration file is small text", stamp);
    if (!isUtf8(bytes)) return refused("is not UTF-8 text", "save the file as UTF-8", stamp, firstBadLine(bytes));
    return { is: "text", text: new TextDecoder().decode(bytes), stamp };
  } catch (error) {
    return refused(`cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`, null, null);
  } finally {
    await handle.close();
  }
}

function firstBadLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    if (!isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
  return 1;
}

export interface Problem {
  file: string;
  /** From 1, as editors count. */
  line: number;
  column: number;
  message: string;
  hint: string | null;
}

/** `holdfast.yaml:12:5: unknown key "promt" (did you mean "prompt"?)` */
export function formatProblem(problem: Problem, name: string = basename(problem.file)): string {
  const hint = problem.hint === null ? "" : ` (${problem.hint})`;
  return `${name}:${problem.line}:${problem.column}: ${problem.message}${hint}`;
}

/** The error of a command: all problems, one per line, below the file's path. */
export function problemsError(problems: readonly Problem[]): HoldfastError {
  const file = problems[0]?.file ?? "";
  const lines = problems.map((problem) => `  ${formatProblem(problem)}`);
  const many = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return new HoldfastError("invalid", `${many} in ${file}:\n${lines.join("\n")}`, {
    hint: "Fix the file and try again; nothing was changed.",
  });
}

export function byPosition(a: Problem, b: Problem): number {
  return a.line - b.line || a.column - b.column || (a.message < b.message ? -1 : 1);
}
