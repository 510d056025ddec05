/** A process and its ancestors, with Holdfast's variables in their environments. */
import { readFileSync, readdirSync } from "node:fs";
import { hasOpen, readStat } from "./pid.ts";
import { parseTcpTable, tcpTables } from "./peer.ts";
import { isExhausted } from "./run.ts";

export interface Ancestor {
  pid: number;
  startTime: string;
  launch: string | null;
  session: string | null;
  home: string | null;
  making: string | null;
}

/** Deeper than any process tree; guards against a pid that appears twice. */
const maxDepth = 256;

/**
 * The process first. Stops below `until`, whose own environment does not describe its children; null if the process has
 * exited.
 */
export function readLineage(pid: number, until: number): { cgroup: string; line: Ancestor[] } | null {
  const line: Ancestor[] = [];
  for (let at = pid; at > 0 && at !== until && line.length < maxDepth;) {
    const stat = readStat(at);
    if (stat === null) assertCanRead();
    if (stat === null || stat.state === "Z" || stat.state === "X") break;
    line.push({ pid: at, startTime: stat.startTime, ...readVariables(at) });
    at = at === 1 ? 0 : stat.parent;
  }
  return line.length === 0 && pid !== until ? null : { cgroup: readText(`/proc/${pid}/cgroup`), line };
}

/** These variables of the nearest process that has the first of them, from `pid` upwards; null if none has. */
export function inheritedVariables(pid: number, names: readonly [string, ...string[]]): Record<string, string> | null {
  for (let at = pid, depth = 0; at > 1 && depth < maxDepth; depth++) {
    const text = readText(`/proc/${at}/environ`);
    if (variableIn(text, names[0]) !== null) {
      return Object.fromEntries(names.flatMap((name) => [[name, variableIn(text, name)] as const].filter(isSet)));
    }
    at = readStat(at)?.parent ?? 0;
  }
  return null;
}

function isSet(entry: readonly [string, string | null]): entry is readonly [string, string] {
  return entry[1] !== null;
}

function readVariables(pid: number): Omit<Ancestor, "pid" | "startTime"> {
  const text = readText(`/proc/${pid}/environ`);
  const launch = variableIn(text, "HOLDFAST_LAUNCH");
  const making = variableIn(text, "HOLDFAST_MAKING");
  // Most processes do not belong to a launch.
  if (launch === null) return { launch, making, session: null, home: null };
  return { launch, making, session: variableIn(text, "HOLDFAST_SESSION"), home: variableIn(text, "HOLDFAST_HOME") };
}

/** The value of a variable in the text of /proc/<pid>/environ, or null. */
export function variableIn(environ: string, name: string): string | null {
  const environment = `\0${environ}`;
  const at = environment.indexOf(`\0${name}=`);
  if (at < 0) return null;
  const from = at + name.length + 2;
  const end = environment.indexOf("\0", from);
  return environment.slice(from, end < 0 ? undefined : end);
}

/**
 * Empty if the process has exited or belongs to another user. @throws if this process cannot open a file: the unseen
 * process may be an agent.
 */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isExhausted(error)) throw error;
    return "";
  }
}

/** Distinguishes a process that exited from one that cannot be read for lack of a descriptor. */
function assertCanRead(): void {
  readFileSync("/proc/self/stat");
}

/** The process with the client's end of a local connection to us. */
export type TcpClient =
  | { is: "found"; pid: number }
  | { is: "other-user" }
  /** Already closed, or several processes have this port, each at another address. */
  | { is: "gone" };

export function tcpClient(clientPort: number, ourPort: number): TcpClient {
  const tables = tcpTables.map(readText);
  const socket = socketIn(tables, clientPort, ourPort);
  if (socket === null) return { is: "gone" };
  if (process.getuid?.() !== 0 && socket.uid !== process.getuid?.()) return { is: "other-user" };
  const link = `socket:[${socket.inode}]`;
  const pids = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  // Youngest first: a client usually is, and there may be thousands of others.
  const pid = pids.toSorted((a, b) => b - a).find((one) => one !== process.pid && hasOpen(one, link));
  return pid === undefined ? { is: "gone" } : { is: "found", pid };
}

export function socketIn(
  tables: readonly string[],
  localPort: number,
  remotePort: number,
): { inode: string; uid: number } | null {
  const found = tables
    .flatMap(parseTcpTable)
    .filter((row) => row.localPort === localPort && row.remotePort === remotePort && row.inode !== "0");
  // Another address of this machine may have the same port: an agent would pass for the process that was there first.
  const [first] = found;
  return first !== undefined && found.every(({ inode }) => inode === first.inode) ? first : null;
}
