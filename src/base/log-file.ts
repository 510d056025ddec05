/**
 * The daemon's log: one JSON object per line, in a few files of bounded size, with secrets removed. Written immediately
 * and in order, to have the last lines before a crash.
 */
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Level } from "./launch-options.ts";

type Fields = Record<string, unknown>;

export interface LogFile {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** Drops entries below this level from now on. */
  setLevel(level: Level): void;
  /** This exact text never appears in the log from now on. */
  hide(secret: string): void;
  close(): void;
}

const order: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 };
/** Large enough for days of ordinary work, small enough to read. */
const defaultMaxBytes = 5 * 1024 * 1024;
const keptFiles = 3;
/** A longer entry is truncated: a runaway message must not push everything else out. */
const maxEntryBytes = 16 * 1024;

export function openLog(options: { file: string; level?: Level; maxBytes?: number; now?: () => number }): LogFile {
  const { file, maxBytes = defaultMaxBytes, now = Date.now } = options;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let level = options.level ?? "info";
  let current: Open | null = open(file);
  const secrets = new Set<string>();

  /** Opens the next file before closing this one, so there is always one to write to [BASE-15]. */
  const replace = (next: Open): void => {
    if (current !== null) closeSync(current.handle);
    current = next;
  };

  const rotate = (): void => {
    const fresh = `${file}.next`;
    const next = open(fresh, "w");
    try {
      for (let number = keptFiles - 1; number >= 1; number--) {
        renameIfThere(`${file}.${number}`, `${file}.${number + 1}`);
      }
      renameIfThere(file, `${file}.1`);
      renameSync(fresh, file);
    } catch (error) {
      closeSync(next.handle);
      throw error;
    }
    replace(next);
  };

  const makeRoom = (written: Open, bytes: number): void => {
    const isThere = statSync(file, { throwIfNoEntry: false })?.ino === written.ino;
    if (!isThere) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      replace(open(file));
    } else if (written.size + bytes > maxBytes && written.size > 0) rotate();
  };

  const write = (at: Level, message: string, fields: Fields = {}): void => {
    if (order[at] < order[level] || current === null) return;
    const text = entryOf({ at: new Date(now()).toISOString(), level: at, message }, fields, secrets);
    const bytes = Buffer.byteLength(text);
    try {
      makeRoom(current, bytes);
    } catch {
      // No descriptor, no inode, a read-only disk: write to the open file, and try again with the next entry.
    }
    try {
      if (current.size + bytes > 2 * maxBytes) {
        ftruncateSync(current.handle);
        current.size = 0;
      }
      current.size += writeSync(current.handle, text);
    } catch {
      // A full disk must not crash the daemon; the entry is lost.
    }
  };

  return {
    debug: (message, fields) => write("debug", message, fields),
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
    setLevel: (wanted) => void (level = wanted),
    hide: (secret) => void (secret.length >= 8 && secrets.add(secret)),
    close: () => {
      const last = current;
      // First: a later entry must never go to another file with the same descriptor.
      current = null;
      if (last !== null) closeSync(last.handle);
    },
  };
}

interface Open {
  handle: number;
  ino: number;
  size: number;
}

function open(path: string, flags = "a"): Open {
  const handle = openSync(path, flags, 0o600);
  const { ino, size } = fstatSync(handle);
  return { handle, ino, size };
}

/** Drops fields that cannot be written as JSON: logging never throws [BASE-15]. */
function entryOf(head: Fields, fields: Fields, secrets: ReadonlySet<string>): string {
  const clashes = Object.keys(fields).some((name) => name in head);
  let text: string;
  try {
    text = JSON.stringify({ ...head, ...(clashes ? { fields } : fields) }, plain);
  } catch (error) {
    text = JSON.stringify({ ...head, unwritable: String(error) });
  }
  return `${redact(text, secrets).slice(0, maxEntryBytes)}\n`;
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const secretKey = /token|capability|secret|passphrase|password|authorization|api_?key|cookie/i;

/** Errors become text with their causes; values under secret-looking keys are not written. */
function plain(key: string, value: unknown): unknown {
  if (secretKey.test(key) && typeof value === "string") return "[redacted]";
  if (value instanceof Error) {
    return { error: value.message, stack: value.stack, ...(value.cause === undefined ? {} : { cause: value.cause }) };
  }
  return value;
}

/** Shapes of common keys and tokens. */
const secretShapes =
  /\b(sk-[\w-]{16,}|gh[pousr]_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|hfc_[\w.-]{16,}|Bearer\s+[\w.~+/=-]{16,})/g;

function redact(text: string, secrets: ReadonlySet<string>): string {
  let clean = text.replaceAll(secretShapes, "[redacted]");
  for (const secret of secrets) clean = clean.replaceAll(secret, "[redacted]");
  return clean;
}
