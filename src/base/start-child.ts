/**
 * Starts another program. On a machine or in a process that has no descriptor, process or memory left, Node hands out a
 * child without streams and reports the reason later: code that uses its streams immediately throws, and the report, which
 * has no listener then, ends the daemon. Here a child is handed out only once it runs [PROC-200].
 */
import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";

/** What passes as soon as something else is closed or ends. */
const passing = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);
const retriedForMs = 3_000;
const firstPauseMs = 20;

/** Rejects with the system's error once it was refused for so long, or at once where another try cannot help. */
export async function startChild<Child extends ChildProcess>(
  begin: () => Child,
  { forMs = retriedForMs } = {},
): Promise<Child> {
  const until = performance.now() + forMs;
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    const outcome = await begun(begin);
    if (!(outcome instanceof Error)) return outcome;
    if (!isExhausted(outcome) || performance.now() + pauseMs >= until) throw outcome;
    await delay(pauseMs);
  }
}

async function begun<Child extends ChildProcess>(begin: () => Child): Promise<Child | Error> {
  let child: Child;
  try {
    child = begin();
  } catch (error) {
    return error as Error;
  }
  if (child.pid !== undefined) return child;
  return await new Promise<Error>((resolve) => void child.once("error", resolve));
}

/** Whether the system had nothing left to start or open it with. */
export function isExhausted(error: unknown): boolean {
  return passing.has(codeOf(error));
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

/** Node tells of a module that it had no descriptor for only in words. */
function codeOf(error: unknown): string {
  const { code = "", message = "" } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code !== "ERR_INVALID_PACKAGE_CONFIG") return code;
  return /: too many open files\b/.test(message) ? (/ in system/.test(message) ? "ENFILE" : "EMFILE") : code;
}
