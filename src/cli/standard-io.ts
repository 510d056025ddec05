/**
 * The process's own input and output. Written with the file descriptor itself: building process.stdout costs 2 ms, and
 * what was written is out when the call returns, so that exiting at once loses nothing.
 */
import { fstatSync, statSync, writeSync } from "node:fs";

export interface StandardIo {
  out(text: string): void;
  /** To stdout as it is, without a line end. */
  write(text: string): void;
  err(text: string): void;
  isTerminal(descriptor: 0 | 1 | 2): boolean;
  /** Of the terminal that stdout is; null where it is none or does not report its size. */
  size(): TerminalSize | null;
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

export const standardIo: StandardIo = {
  out: (text) => writeAll(1, `${text}\n`),
  write: (text) => writeAll(1, text),
  err: (text) => writeAll(2, `${text}\n`),
  isTerminal: (descriptor) => {
    try {
      // Cheap first: loading node:tty is worth it only for a character device other than /dev/null.
      const file = fstatSync(descriptor);
      if (!file.isCharacterDevice() || file.rdev === statSync("/dev/null").rdev) return false;
      return process.getBuiltinModule("node:tty").isatty(descriptor);
    } catch {
      return false;
    }
  },
  size: () => {
    if (!standardIo.isTerminal(1)) return null;
    const [columns, rows] = process.stdout.getWindowSize();
    return columns > 0 && rows > 0 ? { columns, rows } : null;
  },
};

const pauseMs = 5;

function writeAll(descriptor: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A pipe that somebody made non-blocking is full: wait for its reader.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
      // The reader has what it wanted (`… | head -1`), or there is no output at all.
      else if (code === "EPIPE" || code === "EBADF") process.exit(0);
      else throw error;
    }
  }
}
