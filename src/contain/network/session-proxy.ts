/**
 * One session's proxy: accepts proxy requests (CONNECT and plain http), checks host and port against the session's
 * list, resolves the name outside, checks the addresses and connects to one of them. TLS passes through unchanged.
 */
import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { connect, isIP, type Socket, BlockList, isIPv4, isIPv6 } from "node:net";
import { bounded } from "../../base/async.ts";
import { endpointText, judge, type AllowEntry } from "./allow-list.ts";
import type { BlockedRecord, WhyBlocked } from "./blocked.ts";
import { parseHead, type Head } from "./request.ts";
import { networkInterfaces } from "node:os";
import { special4 } from "../../base/addresses.ts";

/** Inside 2000::/3; all other addresses are not public. */
const special6: [string, number][] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  // Contains an IPv4 address, to which a router would deliver.
  ["2002::", 16],
  ["3fff::", 20],
];

const notPublic4 = new BlockList();
for (const [net, prefix] of special4) notPublic4.addSubnet(net, prefix, "ipv4");
const public6 = new BlockList();
public6.addSubnet("2000::", 3, "ipv6");
const notPublic6 = new BlockList();
for (const [net, prefix] of special6) notPublic6.addSubnet(net, prefix, "ipv6");

/**
 * Whether an address is on the public internet. All others are private: this machine, its neighbors, and a cloud's
 * metadata service, which gives credentials to every program. `own`: the machine's addresses, including public ones,
 * lead to its services.
 */
export function isPublic(address: string, own: ReadonlySet<string> = ownAddresses()): boolean {
  if (own.has(address)) return false;
  if (isIPv4(address)) return !notPublic4.check(address, "ipv4");
  // IPv4 addresses in IPv6 form (::ffff:0:0/96, 64:ff9b::/96) are outside 2000::/3.
  return isIPv6(address) && public6.check(address, "ipv6") && !notPublic6.check(address, "ipv6");
}

function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)));
}

export const limits = {
  /** Per session, including connections that only keep the proxy running. */
  connections: 256,
  /** Names being resolved: the system has few threads for it, shared by all sessions. */
  lookups: 16,
  headBytes: 16_384,
  headMs: 10_000,
  /** For resolving and connecting. */
  connectMs: 30_000,
  /** A model may think for minutes before its next byte. */
  idleMs: 30 * 60_000,
};

export interface SessionProxyOptions {
  allow: () => readonly AllowEntry[];
  blocked: Pick<BlockedRecord, "add">;
  /** A bridge connected; the result is called when it disconnects. */
  onHold: (lingerMs: number) => () => void;
  resolve?: (host: string) => Promise<LookupAddress[]>;
  isPublic?: (address: string) => boolean;
  limits?: Partial<typeof limits>;
}

export class SessionProxy {
  readonly #options: SessionProxyOptions;
  readonly #limits: typeof limits;
  readonly #open = new Set<Socket>();
  readonly #holding = new Set<Socket>();
  #lookups = 0;

  constructor(options: SessionProxyOptions) {
    this.#options = options;
    this.#limits = { ...limits, ...options.limits };
  }

  /** Connections that carry data. */
  get connections(): number {
    return this.#open.size - this.#holding.size;
  }

  /** Serves a connection. Sockets must allow half-open ones: a request may end before its response begins. */
  serve(client: Socket): void {
    client.on("error", () => client.destroy());
    if (this.#open.size >= this.#limits.connections) {
      this.#options.blocked.add("*", 0, "too-many-connections", Date.now());
      return refuse(client, "503 Service Unavailable", "Too many connections of this session.");
    }
    this.#open.add(client);
    client.once("close", () => this.#open.delete(client));
    void this.#serve(client).catch(() => client.destroy());
  }

  /** Releases bridges: they reconnect to the current proxy. */
  release(): void {
    for (const client of this.#holding) client.destroy();
  }

  /** Closes every connection. */
  close(): void {
    for (const client of this.#open) client.destroy();
  }

  async #serve(client: Socket): Promise<void> {
    const read = await readHead(client, this.#limits);
    if (read === null) return;
    const { head, rest } = read;
    switch (head.is) {
      case "invalid":
        return refuse(client, "400 Bad Request", `Holdfast's proxy cannot handle this request: ${head.why}.`);
      case "hold": {
        const release = this.#options.onHold(head.lingerMs);
        this.#holding.add(client);
        client.once("close", () => {
          this.#holding.delete(client);
          release();
        });
        client.once("end", () => client.destroy());
        client.write("HTTP/1.1 200 OK\r\n\r\n");
        client.resume();
        return;
      }
      case "connect":
      case "forward":
        return this.#connect(client, head, rest);
    }
  }

  async #connect(client: Socket, head: Extract<Head, { host: string }>, rest: Buffer): Promise<void> {
    const { host, port } = head;
    const verdict = judge(this.#options.allow(), host, port);
    if (verdict === "no") return this.#block(client, host, port, "not-listed");
    let addresses: LookupAddress[];
    try {
      addresses = await this.#resolve(host);
    } catch (error) {
      return refuse(client, "502 Bad Gateway", `Cannot resolve ${host}: ${(error as Error).message}`);
    }
    const test = this.#options.isPublic ?? isPublic;
    const checked = verdict === "literal" ? addresses : addresses.filter(({ address }) => test(address));
    if (checked.length === 0) return this.#block(client, host, port, "private");
    // Not resolved again: a second result could differ from the checked one.
    const server = connect({
      host,
      port,
      allowHalfOpen: true,
      lookup: (_host, _options, done) => done(null, checked),
      autoSelectFamily: true,
    });
    const abandon = (): void => void server.destroy();
    client.once("close", abandon);
    if (client.destroyed) return abandon();
    const failed = (error: Error): void => refuse(client, "502 Bad Gateway", `Cannot reach ${host}: ${error.message}`);
    server.once("error", failed);
    server.setTimeout(this.#limits.connectMs, () => server.destroy(new Error("timed out")));
    server.once("connect", () => {
      client.off("close", abandon);
      server.off("error", failed);
      server.on("error", () => server.destroy());
      server.setNoDelay(true);
      server.setKeepAlive(true, 60_000);
      for (const socket of [client, server]) {
        socket.setTimeout(0);
        socket.setTimeout(this.#limits.idleMs, () => socket.destroy(new Error("idle")));
      }
      endTogether(client, server);
      endTogether(server, client);
      if (head.is === "connect") client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      else server.write(head.head, "latin1");
      if (rest.length > 0) server.write(rest);
      client.pipe(server);
      server.pipe(client);
    });
  }

  async #resolve(host: string): Promise<LookupAddress[]> {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    if (this.#lookups >= this.#limits.lookups) throw new Error("too many names are being resolved");
    this.#lookups += 1;
    const asked = (this.#options.resolve ?? resolveAll)(host).finally(() => (this.#lookups -= 1));
    const found = await bounded(asked, this.#limits.connectMs);
    if (found === "too-late") throw new Error("timed out");
    return found;
  }

  #block(client: Socket, host: string, port: number, why: WhyBlocked): void {
    this.#options.blocked.add(host, port, why, Date.now());
    refuse(client, "403 Forbidden", blockedText(host, port, why));
  }
}

/** Bytes that one side sent before it closed still reach the other. */
function endTogether(one: Socket, other: Socket): void {
  one.once("close", (failed) => {
    if (failed) other.destroy();
    else other.end(() => other.destroy());
  });
}

/** For the agent, in the proxy's response. */
function blockedText(host: string, port: number, why: WhyBlocked): string {
  const endpoint = endpointText(host, port);
  const reason =
    why === "private"
      ? `${endpoint} is in a private network and not listed with its port`
      : `${endpoint} is not in this session's network allow list`;
  return `Blocked by Holdfast: ${reason}. Do not try to work around this; ask the user to allow it.`;
}

async function readHead(
  client: Socket,
  { headBytes, headMs }: Pick<typeof limits, "headBytes" | "headMs">,
): Promise<{ head: Head; rest: Buffer } | null> {
  return new Promise((resolve) => {
    let read = Buffer.alloc(0);
    const settle = (result: { head: Head; rest: Buffer } | null): void => {
      clearTimeout(timer);
      client.off("data", take).off("end", gone).off("close", gone);
      client.pause();
      resolve(result);
    };
    const gone = (): void => {
      settle(null);
      client.destroy();
    };
    const take = (bytes: Buffer): void => {
      read = Buffer.concat([read, bytes]);
      const end = read.indexOf("\r\n\r\n");
      if (end >= 0 && end <= headBytes) {
        settle({ head: parseHead(read.toString("latin1", 0, end)), rest: read.subarray(end + 4) });
      } else if (end >= 0 || read.length > headBytes) {
        settle(null);
        refuse(client, "431 Request Header Fields Too Large", "The head of the request is too large.");
      }
    };
    const timer = setTimeout(() => {
      settle(null);
      refuse(client, "408 Request Timeout", "The request did not arrive in time.");
    }, headMs);
    client.on("data", take).once("end", gone).once("close", gone);
  });
}

function refuse(client: Socket, status: string, text: string): void {
  if (client.destroyed) return;
  const body = `${text}\n`;
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  // Unread bytes would turn the close into a reset, and the response would be lost.
  client.resume();
  client.end(head + body);
  client.setTimeout(refuseMs, () => client.destroy());
  client.once("end", () => client.destroy());
}

/** How long a refused client may take to read the reason. */
const refuseMs = 5_000;

function resolveAll(host: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, found) => (error === null ? resolve(found) : reject(error)));
  });
}
