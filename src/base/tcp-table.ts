/** Who is behind a TCP port of this machine, as the kernel has it. Linux alone shows it; elsewhere nothing is known. */
import { readFileSync } from "node:fs";

interface TcpRow {
  localPort: number;
  remotePort: number;
  listens: boolean;
  uid: number;
}

const listening = "0A";
const tables = ["/proc/net/tcp", "/proc/net/tcp6"];

export function parseTcpTable(text: string): TcpRow[] {
  return text
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, local, remote, state, , , , uid] = line.trim().split(/\s+/);
      if (local === undefined || remote === undefined || uid === undefined) return [];
      return [{ localPort: portOf(local), remotePort: portOf(remote), listens: state === listening, uid: Number(uid) }];
    });
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16);
}

function readRows(): TcpRow[] {
  return tables.flatMap((path) => {
    try {
      return parseTcpTable(readFileSync(path, "utf8"));
    } catch {
      return [];
    }
  });
}

/** The user whose program listens on a port; null where that cannot be determined. */
export function listenerOf(port: number): { uid: number; name: string | null } | null {
  const found = readRows().find((row) => row.listens && row.localPort === port);
  return found === undefined ? null : { uid: found.uid, name: nameOf(found.uid) };
}

/** By their port, the users whose programs on this machine are connected to `port`. */
export function peersOf(port: number): Map<number, number> {
  const connected = readRows().filter((row) => !row.listens && row.remotePort === port);
  return new Map(connected.map(({ localPort, uid }) => [localPort, uid]));
}

function nameOf(uid: number): string | null {
  try {
    const line = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((each) => each.split(":")[2] === String(uid));
    return line?.split(":")[0] ?? null;
  } catch {
    return null;
  }
}

/** "a program of user alice (uid 1001)", for a message. */
export function describeListener(port: number): string {
  const who = listenerOf(port);
  if (who === null) return "another program";
  if (who.uid === process.getuid?.()) return "another program of yours";
  return who.name === null ? `a program of uid ${who.uid}` : `a program of user ${who.name} (uid ${who.uid})`;
}
