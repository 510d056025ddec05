/**
 * Reads files that an agent may have replaced: only regular ones, only so much of them, and without waiting. A plain read
 * of a FIFO would stop the daemon until somebody writes to it.
 */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";

/** Longer than any line that git keeps in a file of its own, and than the first lines of a reflog. */
const maxTextBytes = 64 * 1024;
const chunkBytes = 1024 * 1024;

/** The text of a file, at most its first 64 KB; null when it is not a regular file or cannot be read. */
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

/** A file's text without its last newline; null when it cannot be read. */
export function readLine(path: string): string | null {
  return readText(path)?.trimEnd() ?? null;
}

/** Copies a regular file; false when there is none. */
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
