/**
 * The process at the other end of a unix socket. Node has no call for it, so getsockopt(SO_PEERCRED) is called through
 * node:ffi, which is experimental and may be missing: then nothing is known, and nobody crashes.
 */
import type { Socket } from "node:net";

export type PeerLookUp =
  | { is: "ok"; pidOf: (socket: Socket) => number }
  /** With the reason, for `doctor`. */
  | { is: "none"; why: string };

/** Linux, the same on every architecture that we run on. */
const solSocket = 1;
const soPeerCred = 17;
/** pid, uid and gid. */
const credentialBytes = 12;

type GetSockOpt = (fd: number, level: number, name: number, value: Buffer, length: Buffer) => number;
interface Ffi {
  dlopen(path: null, functions: object): { functions: { getsockopt: GetSockOpt } };
}

let opened: PeerLookUp | undefined;

/** Loaded with the first connection: 5 ms that a start need not wait for. */
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
      // 0 is what the kernel says of a process that this one cannot see.
      return fd >= 0 && getsockopt(fd, solSocket, soPeerCred, value, length) === 0 ? value.readInt32LE(0) : 0;
    },
  };
}

/** Without the warning that this one module is experimental: nobody who reads the log can do anything about it. */
function quietly<T>(load: () => T): T {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
