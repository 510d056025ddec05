/**
 * Connections whose peer has not shown a credential yet. A peer gets few of them and little time; if there are too many,
 * the largest group of peers loses its oldest idle one. Refusing new ones instead would let the first peer shut out all
 * others: a browser needs its connection for milliseconds before it has authenticated.
 */
import type { Socket } from "node:net";
import { peersOf } from "../base/peer.ts";

export interface StrangerLimits {
  /** Connections of one address, or on loopback of one user of this machine. */
  perPeer: number;
  total: number;
  /** For a connection without a request. */
  idleMs: number;
  /** For one whose request is under way: a file of the page over a slow line. */
  requestMs: number;
}

export const strangerLimits: StrangerLimits = { perPeer: 64, total: 256, idleMs: 10_000, requestMs: 60_000 };
const sweepMs = 1_000;
/** A full table of the kernel takes a millisecond to read. */
const readPeersMs = 100;

interface Entry {
  address: string;
  port: number;
  local: boolean;
  uid: number | null;
  since: number;
  requests: number;
  sockets: Socket[];
}

export type Strangers = ReturnType<typeof createStrangers>;

export interface StrangersOptions {
  /** The port that this machine's peers are connected to. */
  port: () => number;
  limits?: Partial<StrangerLimits>;
  now?: () => number;
  /** By port, the users behind loopback connections. */
  peers?: (port: number) => ReadonlyMap<number, number>;
}

export function createStrangers(options: StrangersOptions) {
  const limits = { ...strangerLimits, ...options.limits };
  const now = options.now ?? (() => performance.now());
  const peers = options.peers ?? peersOf;
  const entries = new Map<string, Entry>();
  let readAt = -Infinity;
  let sweeper: NodeJS.Timeout | null = null;

  const end = (key: string, entry: Entry): void => {
    entries.delete(key);
    for (const socket of entry.sockets) socket.destroy();
  };
  const forget = (key: string): void => {
    entries.delete(key);
    if (entries.size > 0 || sweeper === null) return;
    clearInterval(sweeper);
    sweeper = null;
  };
  const sweep = (): void => {
    for (const [key, entry] of entries) {
      const mayTake = entry.requests > 0 ? limits.requestMs : limits.idleMs;
      if (now() - entry.since > mayTake) end(key, entry);
    }
  };
  /** All of 127.0.0.0/8 is one machine: its users are counted apart if the kernel names them. */
  const groupOf = (entry: Entry): string =>
    entry.local ? (entry.uid === null ? "local" : `uid ${entry.uid}`) : entry.address;
  const learnUsers = (): void => {
    if (now() - readAt < readPeersMs) return;
    readAt = now();
    const users = peers(options.port());
    for (const entry of entries.values()) if (entry.local) entry.uid ??= users.get(entry.port) ?? null;
  };
  const makeRoom = (newest: Entry): void => {
    const count = (group: string): number => [...entries.values()].filter((each) => groupOf(each) === group).length;
    if (entries.size <= limits.total && count(groupOf(newest)) <= limits.perPeer) return;
    learnUsers();
    const groups = Map.groupBy(entries, ([, entry]) => groupOf(entry));
    for (const group of groups.values()) while (group.length > limits.perPeer) drop(group);
    while (entries.size > limits.total) drop([...groups.values()].toSorted((a, b) => b.length - a.length)[0] ?? []);
  };
  /** Insertion is the order of age. One whose request is under way goes last. */
  const drop = (group: [string, Entry][]): void => {
    const at = Math.max(
      0,
      group.findIndex(([, { requests }]) => requests === 0),
    );
    const [[key, entry] = []] = group.splice(at, 1);
    if (key !== undefined && entry !== undefined) end(key, entry);
  };

  return {
    add: (socket: Socket): void => {
      const key = keyOf(socket);
      const address = peerOf(socket.remoteAddress ?? "");
      const entry: Entry = {
        address,
        port: socket.remotePort ?? 0,
        local: address === "local",
        uid: null,
        since: now(),
        requests: 0,
        sockets: [socket],
      };
      entries.set(key, entry);
      socket.once("close", () => {
        if (entries.get(key) === entry) forget(key);
      });
      sweeper ??= setInterval(sweep, sweepMs).unref();
      makeRoom(entry);
    },
    /** The same connection, once TLS has made another socket of it. */
    secured: (socket: Socket): void => {
      const key = keyOf(socket);
      const entry = entries.get(key);
      entry?.sockets.push(socket);
      socket.once("close", () => {
        if (entry !== undefined && entries.get(key) === entry) forget(key);
      });
    },
    /** A request's headers have arrived; returns what to call when it is answered. */
    asks: (socket: Socket): (() => void) => {
      const entry = entries.get(keyOf(socket));
      if (entry === undefined) return () => undefined;
      entry.requests++;
      entry.since = now();
      return () => {
        entry.requests--;
        entry.since = now();
      };
    },
    /** The peer has shown a valid credential: this connection has no limits of ours anymore. */
    proven: (socket: Socket): void => forget(keyOf(socket)),
    get size(): number {
      return entries.size;
    },
    close: (): void => {
      if (sweeper !== null) clearInterval(sweeper);
      sweeper = null;
    },
  };
}

function keyOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}

/** One name for all addresses that a peer can choose from: this machine, or an IPv6 network (/64). */
export function peerOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "").replace(/%.*$/, "");
  if (plain === "::1" || plain.startsWith("127.")) return "local";
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill("0");
  return `${[...front, ...zeros, ...back].slice(0, 4).join(":")}::/64`;
}
