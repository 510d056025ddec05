/** What a command runs in: its environment, its output, and the daemon, which is found or started on the first call. */
import { resolvePaths, type Paths } from "../base/paths.ts";
import type { Client } from "../client/client.ts";
import { clientOf } from "./system/daemon/connection.ts";
import { jsonText, makePaint, type Paint, wantsColors } from "./render/text.ts";
import { fstatSync, statSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

interface StandardIo {
  out: (text: string) => void;
  /** Writes to stdout without a line end. */
  write: (text: string) => void;
  err: (text: string) => void;
  isTerminal: (descriptor: 0 | 1 | 2) => boolean;
  /** Size of the terminal on stdout; null if it is not a terminal or does not report its size. */
  terminalSize: () => { columns: number; rows: number } | null;
}

/** Writes to the file descriptors directly: process.stdout takes 2 ms to create, and its writes can be lost on exit. */
export const standardIo: StandardIo = {
  out: (text) => writeAll(1, `${text}\n`),
  write: (text) => writeAll(1, text),
  err: (text) => writeAll(2, `${text}\n`),
  isTerminal: (descriptor) => {
    try {
      // Cheap first: loading node:tty is worth it only for a character device other than /dev/null.
      const file = fstatSync(descriptor);
      if (!file.isCharacterDevice() || file.rdev === statSync("/dev/null").rdev) return false;
      return isatty(descriptor);
    } catch {
      return false;
    }
  },
  terminalSize: () => {
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
      // A non-blocking pipe is full: wait for its reader.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
      // The reader has read enough (`… | head -1`), or stdout is closed.
      else if (code === "EPIPE" || code === "EBADF") process.exit(0);
      else throw error;
    }
  }
}

export interface Context extends StandardIo {
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Directory of the running bundle. */
  dist: string;
  paths: Paths;
  paint: Paint;
  now: () => number;
  /** With `--json`, `out` prints nothing: the value is the only output on stdout. */
  useJson: (json: boolean) => void;
  /** Prints a value as JSON, on one line without an indent. */
  json: (value: unknown, indent?: number) => void;
  /** Prints a command's result: the value with `--json`, otherwise the text, of a failure on stderr. Returns the exit code. */
  print: (value: unknown, text: string | readonly string[] | null, hasFailed?: boolean) => number;
  /** Whether this command may start the daemon. */
  mayStart: boolean;
  /** Whether `--no-start` was given, for hints. */
  noStart?: boolean;
  call: Client["call"];
}

export interface ContextOptions {
  env: NodeJS.ProcessEnv;
  cwd: string;
  dist: string;
  io: StandardIo;
  now?: () => number;
}

export function createContext({ env, cwd, dist, io, now = Date.now }: ContextOptions): Context {
  let paint: Paint | undefined;
  let asJson = false;
  const paths = resolvePaths(env);
  const own = env["HOLDFAST_HOME"] ?? "";
  const context: Context = {
    // A relative home would mean another directory to the daemon, which runs in its home.
    env: own === "" || own === paths.home ? env : { ...env, HOLDFAST_HOME: paths.home },
    cwd,
    dist,
    paths,
    get paint() {
      return (paint ??= makePaint(wantsColors(env, io.isTerminal(1))));
    },
    ...io,
    now,
    useJson: (json) => {
      asJson = json;
      context.out = json ? () => undefined : io.out;
    },
    json: (value, indent = 2) => io.out(jsonText(value, indent)),
    print: (value, text, hasFailed = false) => {
      if (asJson) context.json(value);
      else if (text !== null) (hasFailed ? io.err : io.out)(typeof text === "string" ? text : text.join("\n"));
      return hasFailed ? 1 : 0;
    },
    mayStart: false,
    call: (route, options) => clientOf(context).call(route, options),
  };
  return context;
}
