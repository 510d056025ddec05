/** CPU time and memory of a process, from /proc. Linux. */
import { readFileSync, readdirSync } from "node:fs";

/**
 * CPU time of all threads and of exited children. A clock tick is 10 ms, so threads are read in nanoseconds; for children
 * the kernel reports only ticks.
 */
export function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    } catch {
      return 0;
    }
  });
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  const childTicks = Number(fields[13]) + Number(fields[14]);
  return threads.reduce((sum, ms) => sum + ms, 0) + childTicks * 10;
}

/** Private memory, in KiB. */
export function privateKib(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? NaN);
  return field("Private_Clean") + field("Private_Dirty");
}

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}
