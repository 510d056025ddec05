/** Starts other programs: retries while the system is out of resources, and runs small ones for their output. */
import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";

/** Errors that pass as soon as another file is closed or another process exits. */
const transient = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);
const retriedForMs = 3_000;
const firstPauseMs = 20;

/**
 * Starts a child, retrying for `forMs` while the system is out of resources; rejects with the system's error. Without a
 * descriptor, process or memory to spare, Node returns a child without streams and emits the error later: using the
 * streams would throw, and the unhandled error event would crash the daemon.
 */
export async function startChild<Child extends ChildProcess>(
  begin: () => Child,
  { forMs = retriedForMs } = {},
): Promise<Child> {
  const until = performance.now() + forMs;
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    const outcome = await tryStart(begin);
    if (!(outcome instanceof Error)) return outcome;
    if (!isExhausted(outcome) || performance.now() + pauseMs >= until) throw outcome;
    await delay(pauseMs);
  }
}

async function tryStart<Child extends ChildProcess>(begin: () => Child): Promise<Child | Error> {
  let child: Child;
  try {
    child = begin();
  } catch (error) {
    return error as Error;
  }
  if (child.pid !== undefined) return child;
  return await new Promise<Error>((resolve) => void child.once("error", resolve));
}

/** Whether the system is out of descriptors, processes or memory. */
export function isExhausted(error: unknown): boolean {
  return transient.has(codeOf(error));
}

/** Why a program could not be started, as part of a sentence. */
export function whyNotStarted(error: unknown): string {
  switch (codeOf(error)) {
    case "EMFILE":
      return "the daemon has too many files open (EMFILE)";
    case "ENFILE":
      return "the machine has too many files open (ENFILE)";
    case "EAGAIN":
      return "the machine has too many processes (EAGAIN)";
    case "ENOMEM":
      return "the machine has no memory left (ENOMEM)";
    case "ENOENT":
      return "not found";
    default:
      return (error as Error).message;
  }
}

/** When no descriptor is left to load a module, Node names the reason only in the message. */
function codeOf(error: unknown): string {
  const { code = "", message = "" } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code !== "ERR_INVALID_PACKAGE_CONFIG") return code;
  return /: too many open files\b/.test(message) ? (/ in system/.test(message) ? "ENFILE" : "EMFILE") : code;
}

export interface RunResult {
  code: number;
  stdout: string;
}

/** Runs a program without a shell or input. Null if it does not exist, takes too long, or prints too much. */
export type Run = (argv: readonly string[], options: RunOptions) => Promise<RunResult | null>;

export interface RunOptions {
  deadlineMs: number;
  /** The complete environment; default: the daemon's own. */
  env?: Readonly<Record<string, string | undefined>>;
}

const maxOutputBytes = 64 * 1024;

export const run: Run = async (argv, { deadlineMs, env = process.env }) => {
  const begin = () => spawn(argv[0]!, argv.slice(1), { env, stdio: ["ignore", "pipe", "ignore"] });
  const child = await startChild(begin, { forMs: deadlineMs }).catch(() => null);
  if (child === null) return null;
  return await new Promise((resolve) => {
    const out: Buffer[] = [];
    let bytes = 0;
    let ended = false;
    const end = (): void => {
      ended = true;
      child.kill("SIGKILL");
      // Its children may keep the pipe open.
      child.stdout.destroy();
    };
    const timer = setTimeout(end, deadlineMs);
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) end();
      else out.push(chunk);
    });
    child.on("error", () => {
      clearTimeout(timer);
      resolve(null);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve(ended ? null : { code: code ?? 128, stdout: Buffer.concat(out).toString("utf8") });
    });
  });
};
