/** Finds processes of a test: by a variable of their environment, or by a path in their command line or working directory. */
import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { until } from "./until.ts";

export interface Marked {
  pid: number;
  what: string;
}

/** Whether such a process exists; a zombie does not count. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

export function markedProcesses(marker: string): Marked[] {
  return processesWhere((pid) => readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(marker));
}

/** Also finds processes with a cleaned environment: a tmux server, a contained agent. */
export function processesNaming(text: string): Marked[] {
  return processesWhere(
    (pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text) || readlinkSync(`/proc/${pid}/cwd`).includes(text),
  );
}

function processesWhere(matches: (pid: number) => boolean): Marked[] {
  const found: Marked[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (!matches(pid)) continue;
      const what = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim().slice(0, 160);
      // An exiting process no longer has a command line, but is not a zombie yet.
      if (what !== "" && isRunning(pid)) found.push({ pid, what });
    } catch {
      // It exited meanwhile, or we may not read it.
    }
  }
  return found;
}

/** Does something while a process is paused; the signal reaches its threads only a moment later. */
export async function whileStopped<T>(pid: number, run: () => T | Promise<T>): Promise<T> {
  process.kill(pid, "SIGSTOP");
  try {
    await until(`process ${pid} to stand still`, () => threadStates(pid).every((state) => state === "T"));
    return await run();
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

function threadStates(pid: number): (string | undefined)[] {
  const stats = readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/stat`, "latin1"));
  return stats.map((stat) => /\) (\w) /.exec(stat)?.[1]);
}

export async function endMarked(processes: Marked[]): Promise<void> {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone.
    }
  }
  await until("killed processes to be gone", () => !processes.some(({ pid }) => isRunning(pid)));
}
