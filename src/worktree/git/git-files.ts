/**
 * git's own files, read without a process. An agent may have replaced them: reads only regular files, a limited size,
 * and without waiting. A plain read of a FIFO would block the daemon until another process writes to it.
 */
import {
  existsSync,
  statSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { readWorktree } from "../record.ts";

/** Longer than any line in git's own files, and than the first lines of a reflog. */
const maxTextBytes = 64 * 1024;
const chunkBytes = 1024 * 1024;

/** At most the first 64 KB of a file; null if it is not regular or cannot be read. */
export function readText(path: string): string | null {
  const file = openRegular(path);
  if (file === null) return null;
  try {
    const bytes = Buffer.allocUnsafe(Math.min(file.size + 1, maxTextBytes));
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file.descriptor, bytes, length, bytes.length - length, null);
    }
    return bytes.toString("utf8", 0, length);
  } catch {
    return null;
  } finally {
    closeSync(file.descriptor);
  }
}

/** A file's text without its last newline; null if it cannot be read. */
export function readLine(path: string): string | null {
  return readText(path)?.trimEnd() ?? null;
}

/** Copies a regular file; null if missing. */
export function copyRegular(from: string, to: string): { modifiedMs: number } | null {
  const file = openRegular(from);
  if (file === null) return null;
  try {
    const target = openSync(to, "wx", 0o600);
    try {
      const bytes = Buffer.allocUnsafe(Math.min(file.size + 1, chunkBytes));
      for (let read = -1; read !== 0;) {
        read = readSync(file.descriptor, bytes, 0, bytes.length, null);
        for (let written = 0; written < read;) written += writeSync(target, bytes, written, read - written);
      }
    } finally {
      closeSync(target);
    }
    return { modifiedMs: file.modifiedMs };
  } finally {
    closeSync(file.descriptor);
  }
}

/** The configuration of our own git directory. `isLong`: object ids are SHA-256. */
export function writeConfig(gitDir: string, { isBare, isLong }: { isBare: boolean; isLong: boolean }): void {
  const format = isLong ? "1\n[extensions]\n\tobjectformat = sha256\n" : "0\n";
  writeFileSync(join(gitDir, "config"), `[core]\n\tbare = ${isBare}\n\trepositoryformatversion = ${format}`);
}

function openRegular(path: string): { descriptor: number; size: number; modifiedMs: number } | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return null;
  }
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return { descriptor, size: stat.size, modifiedMs: stat.mtimeMs };
  closeSync(descriptor);
  return null;
}

/** The branch, a short commit id if detached, null if there is no worktree. */
export function liveBranch(worktrees: string, path: string): string | null {
  // A worktree of an earlier build has no record before its first use; this only reads a name to show.
  const gitDir = readWorktree(worktrees, path)?.admin ?? gitDirOf(path);
  return gitDir === null || !existsSync(path) ? null : branchIn(gitDir);
}

/** Like `liveBranch`, for a git directory. */
export function branchIn(gitDir: string): string | null {
  const head = readHead(gitDir);
  if (head === null) return null;
  return head.is === "branch" ? head.branch : head.commit.slice(0, shortIdLength);
}

const shortIdLength = 8;

export type Head = { is: "branch"; branch: string } | { is: "detached"; commit: string };

/** HEAD of a git directory. A ref outside `refs/heads` is named in full. */
export function readHead(gitDir: string): Head | null {
  const text = readLine(`${gitDir}/HEAD`);
  if (text === null) return null;
  if (!text.startsWith("ref: ")) return /^[0-9a-f]{40,64}$/.test(text) ? { is: "detached", commit: text } : null;
  const ref = text.slice("ref: ".length).trim();
  return { is: "branch", branch: ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : ref };
}

/**
 * The git directory that `<path>/.git` is or points to, which may not exist; null if missing. For your own
 * repository, and to check whether a worktree still matches our record: never to find a session's repository.
 */
export function gitDirOf(path: string): string | null {
  // Without node:path, which takes longer than reading the files at a cold start with a hundred sessions
  // (bench/restart.ts).
  const dotGit = `${path}/.git`;
  const text = readLine(dotGit);
  if (text === null) return statSync(dotGit, { throwIfNoEntry: false })?.isDirectory() === true ? dotGit : null;
  if (!text.startsWith("gitdir: ")) return null;
  const named = text.slice("gitdir: ".length);
  return isAbsolute(named) ? named : resolve(path, named);
}
