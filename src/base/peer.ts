/** The process or user at the other end of a connection on this machine. */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

export type PeerLookUp =
  | { is: "ok"; pidOf: (socket: Socket) => number }
  /** The reason, for `doctor`. */
  | { is: "none"; why: string };

/** Linux constants, the same on every supported architecture. */
const solSocket = 1;
const soPeerCred = 17;
/** Size of pid, uid and gid. */
const credentialBytes = 12;

type GetSockOpt = (fd: number, level: number, name: number, value: Buffer, length: Buffer) => number;
interface Ffi {
  dlopen(path: null, functions: object): { functions: { getsockopt: GetSockOpt } };
}

let opened: PeerLookUp | undefined;

/**
 * Finds the process behind a unix socket. Node has no call for it, so getsockopt(SO_PEERCRED) is called through node:ffi,
 * which is experimental and may be missing. Loaded with the first connection.
 */
export function peerLookUp(): PeerLookUp {
  opened ??= open();
  return opened;
}

function open(): PeerLookUp {
  if (process.platform !== "linux") return { is: "none", why: "this system is not Linux" };
  let getsockopt: GetSockOpt;
  try {
    const ffi = quietly(() => process.getBuiltinModule("node:ffi") as unknown as Ffi | undefined);
    if (ffi === undefined) return { is: "none", why: `Node ${process.versions.node} has no node:ffi` };
    const int = "int32";
    const signature = { arguments: [int, int, int, "pointer", "pointer"], return: int };
    ({ getsockopt } = ffi.dlopen(null, { getsockopt: signature }).functions);
  } catch (error) {
    return { is: "none", why: `getsockopt cannot be called: ${(error as Error).message}` };
  }
  const value = Buffer.alloc(credentialBytes);
  const length = Buffer.alloc(4);
  return {
    is: "ok",
    pidOf: (socket) => {
      const fd = (socket as { _handle?: { fd?: number } | null })._handle?.fd ?? -1;
      length.writeInt32LE(credentialBytes);
      // The kernel reports 0 for a process that this one cannot see.
      return fd >= 0 && getsockopt(fd, solSocket, soPeerCred, value, length) === 0 ? value.readInt32LE(0) : 0;
    },
  };
}

/** Suppresses the warning that node:ffi is experimental. */
function quietly<T>(load: () => T): T {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** A row of the kernel's TCP tables, which only Linux has. */
interface TcpRow {
  localPort: number;
  remotePort: number;
  listens: boolean;
  uid: number;
  /** "0" once it is closed. */
  inode: string;
}

const listening = "0A";
export const tcpTables = ["/proc/net/tcp", "/proc/net/tcp6"];

export function parseTcpTable(text: string): TcpRow[] {
  return text.split("\n").flatMap((line) => {
    const [, local = "", remote = "", state, , , , uid, , inode] = line.trim().split(/\s+/);
    const [localPort, remotePort] = [portOf(local), portOf(remote)];
    // The first line names the columns.
    if (inode === undefined || Number.isNaN(localPort)) return [];
    return [{ localPort, remotePort, listens: state === listening, uid: Number(uid), inode }];
  });
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16);
}

function readRows(): TcpRow[] {
  return tcpTables.flatMap((path) => {
    try {
      return parseTcpTable(readFileSync(path, "utf8"));
    } catch {
      return [];
    }
  });
}

/** The user whose program listens on a port; null if unknown. */
function listenerOf(port: number): { uid: number; name: string | null } | null {
  const found = readRows().find((row) => row.listens && row.localPort === port);
  return found === undefined ? null : { uid: found.uid, name: nameOf(found.uid) };
}

/** Users whose programs on this machine are connected to `port`, by their own port. */
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

/** For a message: "a program of user alice (uid 1001)". */
export function describeListener(port: number): string {
  const who = listenerOf(port);
  if (who === null) return "another program";
  if (who.uid === process.getuid?.()) return "another program of yours";
  return who.name === null ? `a program of uid ${who.uid}` : `a program of user ${who.name} (uid ${who.uid})`;
}
