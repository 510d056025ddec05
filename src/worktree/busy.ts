/** Who works inside a directory: a process whose working directory is there would be pulled along by a rename. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { sep } from "node:path";

export interface Inside {
  pid: number;
  command: string;
}

/** Live processes with their working directory at or below `path` (Linux; elsewhere nobody can be asked cheaply). */
export function processesInside(path: string): Inside[] {
  if (process.platform !== "linux") return [];
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    return [];
  }
  const found: Inside[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    let cwd: string;
    try {
      cwd = readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      // Gone, a zombie, or another user's, who could not work in our directory either.
      continue;
    }
    if (cwd === real || cwd.startsWith(real + sep)) found.push({ pid, command: commandOf(pid) });
  }
  return found;
}

export function describeInside(inside: readonly Inside[]): string {
  const shown = inside.slice(0, 3).map(({ pid, command }) => `${command} (pid ${pid})`);
  return shown.join(", ") + (inside.length > shown.length ? ` and ${inside.length - shown.length} more` : "");
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "a process";
  }
}
