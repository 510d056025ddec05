/**
 * Identifies processes by boot id, pid and kernel start time: a pid alone may be reused a second later, and a zombie is
 * dead although kill(pid, 0) succeeds.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";

export interface ProcessStat {
  pid: number;
  parent: number;
  group: number;
  session: number;
  state: string;
  startTime: string;
}

export interface Identity {
  bootId: string;
  pid: number;
  startTime: string;
}

let cachedBootId: string | undefined;

/** Identifies this boot of the machine. `HOLDFAST_TEST_BOOT_ID` lets a test pretend a reboot. */
export function bootId(): string {
  cachedBootId ??= process.env["HOLDFAST_TEST_BOOT_ID"] ?? readBootId();
  return cachedBootId;
}

function readBootId(): string {
  if (process.platform === "linux") return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  // macOS: the boot time identifies the boot.
  return execFileSync("sysctl", ["-n", "kern.boottime"], { encoding: "utf8" }).replace(/[^0-9]+/g, "-");
}

/** Null if the process does not exist. One that may not be read still has a stat. */
export function readStat(pid: number): ProcessStat | null {
  if (process.platform !== "linux") return readStatWithPs(pid);
  let file: number | undefined;
  try {
    // A third faster than readFileSync, which asks for a size that /proc does not report; bench/chat.ts adopts 500 agents.
    file = openSync(`/proc/${pid}/stat`, "r");
    return parseStat(pid, statBuffer.toString("latin1", 0, readSync(file, statBuffer, 0, statBuffer.length, null)));
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The longest line has some 400 bytes. */
const statBuffer = Buffer.allocUnsafe(1024);

/** The command's name is in parentheses and may itself contain spaces and parentheses. */
export function parseStat(pid: number, text: string): ProcessStat | null {
  const end = text.lastIndexOf(")");
  if (end < 0) return null;
  // Nothing after the start time is needed.
  const fields = text.slice(end + 2).split(" ", 20);
  const [state, parent, group, session] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return null;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), state, startTime };
}

function readStatWithPs(pid: number): ProcessStat | null {
  try {
    const line = execFileSync("ps", ["-o", "ppid=,pgid=,sess=,state=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    const [parent, group, session, state, ...started] = line.split(/\s+/);
    if (state === undefined) return null;
    const stat = { pid, parent: Number(parent), group: Number(group), session: Number(session) };
    return { ...stat, state: state.slice(0, 1), startTime: started.join(" ") };
  } catch {
    return null;
  }
}

const dead = (stat: ProcessStat | null): boolean => stat === null || stat.state === "Z" || stat.state === "X";

/** The identity of a live process; null if it exited or is a zombie. */
export function identify(pid: number): Identity | null {
  const stat = readStat(pid);
  return stat === null || dead(stat) ? null : { bootId: bootId(), pid, startTime: stat.startTime };
}

export function isAlive(identity: Identity): boolean {
  if (identity.bootId !== bootId()) return false;
  const stat = readStat(identity.pid);
  return stat !== null && !dead(stat) && stat.startTime === identity.startTime;
}

/** Signals exactly this process. Returns whether it was alive. */
export function signalIdentity(identity: Identity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Every process of the machine (Linux) except zombies. */
export function listProcesses(): ProcessStat[] {
  const found: ProcessStat[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const stat = readStat(pid);
    if (stat !== null && !dead(stat)) found.push(stat);
  }
  return found;
}

/** Clock ticks per second; USER_HZ is 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

let cachedBootTimeMs: number | undefined;

/** Read once: a process must have the same start time each time. */
function bootTimeMs(): number {
  cachedBootTimeMs ??= Number(/^btime (\d+)$/m.exec(readFileSync("/proc/stat", "latin1"))?.[1]) * 1000;
  return cachedBootTimeMs;
}

/** When a process started, in milliseconds since 1970; null if unknown. */
export function startedAt(identity: Identity): number | null {
  if (process.platform !== "linux" || identity.bootId !== bootId()) return null;
  return bootTimeMs() + (Number(identity.startTime) * 1000) / ticksPerSecond;
}

/**
 * The process that holds a file lock, as the kernel lists it, without opening the file: that would drop a lock of our
 * own. Null if there is no lock or the system does not list it.
 */
export function lockHolder(path: string): Identity | null {
  try {
    const { ino } = statSync(path);
    const real = realpathSync(path);
    for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
      const [, kind, , , pid, place] = line.trim().split(/\s+/);
      // Some file systems report other device numbers in stat, so compare the open file.
      if (kind !== "POSIX" || place?.split(":")[2] !== String(ino)) continue;
      if (hasOpen(Number(pid), real)) return identify(Number(pid));
    }
  } catch {
    // Locks are not listed here, or there is no lock file.
  }
  return null;
}

/** Whether a process has a file or socket open, by the target of its link in /proc. */
export function hasOpen(pid: number, target: string): boolean {
  const directory = `/proc/${pid}/fd`;
  const isTarget = (descriptor: string): boolean => {
    try {
      return readlinkSync(`${directory}/${descriptor}`) === target;
    } catch {
      return false;
    }
  };
  try {
    return readdirSync(directory).some(isTarget);
  } catch {
    return false;
  }
}

/** A text file of a process; empty if it has exited or belongs to another user. */
export function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
