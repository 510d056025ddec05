/**
 * The daemon's log: one JSON object a line, kept to a few files of bounded size, with secrets taken out. Written at once
 * and in order, so that the last lines before a crash are there.
 */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export type Level = "debug" | "info" | "warn" | "error";
type Fields = Record<string, unknown>;

export interface LogFile {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** This exact text never appears in the log from now on. */
  hide(secret: string): void;
  close(): void;
}

const order: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 };
/** Large enough for days of ordinary work, small enough to read. */
const defaultMaxBytes = 5 * 1024 * 1024;
const keptFiles = 3;
/** A single entry beyond this is cut: a runaway message must not push everything else out. */
const maxEntryBytes = 16 * 1024;

export function openLog(options: { file: string; level?: Level; maxBytes?: number; now?: () => number }): LogFile {
  const { file, level = "info", maxBytes = defaultMaxBytes, now = Date.now } = options;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let handle = openSync(file, "a", 0o600);
  let size = fstatSync(handle).size;
  const secrets = new Set<string>();

  const rotate = (): void => {
    closeSync(handle);
    rmSync(`${file}.${keptFiles}`, { force: true });
    for (let number = keptFiles - 1; number >= 1; number--) renameIfThere(`${file}.${number}`, `${file}.${number + 1}`);
    renameIfThere(file, `${file}.1`);
    handle = openSync(file, "a", 0o600);
    size = 0;
  };

  const write = (at: Level, message: string, fields: Fields = {}): void => {
    if (order[at] < order[level]) return;
    const entry = { at: new Date(now()).toISOString(), level: at, message, ...fields };
    const text = `${redact(JSON.stringify(entry, plain), secrets).slice(0, maxEntryBytes)}\n`;
    if (size + text.length > maxBytes && size > 0) rotate();
    try {
      size += writeSync(handle, text);
    } catch {
      // A full disk must not take the daemon down with it; what could not be logged is lost.
    }
  };

  return {
    debug: (message, fields) => write("debug", message, fields),
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    error: (message, fields) => write("error", message, fields),
    hide: (secret) => void (secret.length >= 8 && secrets.add(secret)),
    close: () => closeSync(handle),
  };
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

const secretKey = /token|secret|passphrase|password|authorization|api_?key|cookie/i;

/** Errors become text with their causes; values under secret-looking keys are not written. */
function plain(key: string, value: unknown): unknown {
  if (secretKey.test(key) && typeof value === "string") return "[redacted]";
  if (value instanceof Error) {
    return { error: value.message, stack: value.stack, ...(value.cause === undefined ? {} : { cause: value.cause }) };
  }
  return value;
}

/** Shapes of keys that people paste and programs print. */
const secretShapes =
  /\b(sk-[\w-]{16,}|gh[pousr]_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|Bearer\s+[\w.~+/=-]{16,})/g;

function redact(text: string, secrets: ReadonlySet<string>): string {
  let clean = text.replaceAll(secretShapes, "[redacted]");
  for (const secret of secrets) clean = clean.replaceAll(secret, "[redacted]");
  return clean;
}
