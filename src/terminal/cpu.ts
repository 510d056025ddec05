/** How much of a core the processes of one terminal use. */
import { readFileSync } from "node:fs";
import { listProcesses } from "../base/pid.ts";

const msPerTick = 10;

/** CPU time in milliseconds of everything that runs in the terminal of this process. Zero where that cannot be seen. */
export function cpuTimeOf(leader: number): number {
  if (process.platform !== "linux") return 0;
  const members = listProcesses().filter(({ session }) => session === leader);
  return members.reduce((sum, { pid }) => sum + ticksOf(pid) * msPerTick, 0);
}

function ticksOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}
