/**
 * One push to a browser's push service, and its outcome. A browser chooses the endpoint, so it could name anything that
 * this machine reaches: only public addresses are allowed, checked when the connection is made. The endpoint is a secret
 * that no message repeats.
 */
import type { IncomingMessage } from "node:http";
import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { special4 } from "../../base/addresses.ts";
import type { Message } from "./web-push.ts";

/** Doubled from one failure to the next. */
const firstBackoffMs = 30_000;
const maxBackoffMs = 15 * 60_000;
/** Pending messages per browser; beyond this the oldest is dropped. */
const maxPending = 20;

/**
 * The delay before a push service is used again: what it asked for, otherwise longer each time. Meanwhile the newest
 * message of each topic is kept.
 */
export class Backoff {
  until = 0;
  #failures = 0;
  readonly #pending = new Map<string, Message>();
  #timer: NodeJS.Timeout | undefined;

  begin(now: number, requestedMs: number | null): void {
    const ownMs = firstBackoffMs * 2 ** Math.min(this.#failures++, 10);
    this.until = now + Math.min(requestedMs ?? ownMs, maxBackoffMs);
  }

  end(): void {
    this.#failures = 0;
    this.until = 0;
  }

  hold(message: Message): void {
    // Moved to the end: the first is dropped first.
    this.#pending.delete(message.topic);
    this.#pending.set(message.topic, message);
    const [oldest] = this.#pending.keys();
    if (this.#pending.size > maxPending && oldest !== undefined) this.#pending.delete(oldest);
  }

  /** Returns the pending messages and clears them. */
  take(newerThan: number): Message[] {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    return all.filter(({ at }) => at > newerThan);
  }

  /** Schedules one attempt, however often it is called. */
  wake(now: number, then: () => void): void {
    if (this.#timer !== undefined || this.#pending.size === 0) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        then();
      },
      Math.max(0, this.until - now),
    );
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#pending.clear();
  }
}

/** Endpoints of browsers' push services have a few hundred characters. */
const maxAddressLength = 2048;

/** Why the endpoint is refused, or null. `loopback` also allows a test's own push service. */
export function refuseAddress(address: string, loopback: boolean): string | null {
  const url = URL.parse(address);
  if (url === null || address.length > maxAddressLength) return "The endpoint is not a valid address.";
  if (url.username !== "" || url.password !== "") return "The endpoint must not contain a login.";
  if (loopback && url.protocol === "http:" && url.hostname === "127.0.0.1") return null;
  if (url.protocol !== "https:") return "The endpoint must use https.";
  const host = url.hostname.replace(/^\[|\]$|\.+$/g, "");
  const named = host === "localhost" || host.endsWith(".localhost");
  return named || (isIP(host) !== 0 && isPrivate(host)) ? "The endpoint must have a public address." : null;
}

/** Replaces the system's lookup: a public name that points into a private network is refused. */
export const publicLookup: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return done(error, "", 4);
    const open = found.filter(({ address }) => !isPrivate(address));
    const [first] = open;
    if (first === undefined) return done(new PrivateAddress(), "", 4);
    if (options.all === true) return done(null, open);
    return done(null, first.address, first.family);
  });
};

class PrivateAddress extends Error {
  constructor() {
    super("its name resolves to a private address");
  }
}

let list: BlockList | undefined;

export function isPrivate(address: string): boolean {
  list ??= privateList();
  // The list checks IPv4-mapped IPv6 addresses against its IPv4 networks.
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function privateList(): BlockList {
  const made = new BlockList();
  const six: [string, number][] = [
    ["::", 127],
    // These embed IPv4 addresses, which may be private: NAT64 (RFC 6052, 8215), 6to4, Teredo.
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
    ["2002::", 16],
    ["2001::", 32],
    // Documentation and discard-only.
    ["2001:db8::", 32],
    ["100::", 64],
    ["fc00::", 7],
    ["fe80::", 10],
    ["fec0::", 10],
    ["ff00::", 8],
  ];
  for (const [net, bits] of special4) made.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of six) made.addSubnet(net, bits, "ipv6");
  return made;
}

export interface Parcel {
  endpoint: string;
  authorization: string;
  body: Buffer;
  topic: string;
}

export type Outcome =
  | { is: "sent" }
  /** The subscription expired or was cancelled. */
  | { is: "gone" }
  /** Try again, after `ms` if the service named a delay. */
  | { is: "later"; why: string; ms: number | null }
  | { is: "refused"; why: string };

const deadlineMs = 10_000;
/** Older notifications are not sent (NOTIFY-3). */
export const lifeSeconds = 3600;

export async function sendPush(parcel: Parcel, loopback: boolean, signal: AbortSignal): Promise<Outcome> {
  // Checked again: another version, or a hand, may have written the file.
  const wrong = refuseAddress(parcel.endpoint, loopback);
  if (wrong !== null) return { is: "refused", why: wrong };
  try {
    return judge(await post(parcel, AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])));
  } catch (error) {
    return { is: "later", why: reason(error), ms: null };
  }
}

/** Not by fetch, which cannot check the address that a name resolves to. Redirects are not followed. */
function post({ endpoint, authorization, body, topic }: Parcel, signal: AbortSignal) {
  const url = new URL(endpoint);
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(url, {
      method: "POST",
      headers: {
        Authorization: authorization,
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "Content-Length": body.length,
        TTL: lifeSeconds,
        // Otherwise a phone in battery saver shows it too late.
        Urgency: "high",
        Topic: topic,
        "User-Agent": "holdfast",
      },
      lookup: publicLookup,
      agent: false,
      signal,
    });
    outgoing.on("response", (answer) => {
      // Only the headers matter.
      answer.destroy();
      resolve(answer);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

function judge({ statusCode = 0, headers }: IncomingMessage): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { is: "sent" };
  if (statusCode === 404 || statusCode === 410) return { is: "gone" };
  const why = `the push service returned status ${statusCode}`;
  if (statusCode !== 429 && statusCode < 500) return { is: "refused", why };
  return { is: "later", why, ms: retryAfter(headers["retry-after"]) };
}

/** Seconds, or a date. */
function retryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function reason(error: unknown): string {
  if (error instanceof PrivateAddress) return `the push service was not contacted: ${error.message}`;
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError")) {
    return `no response from the push service within ${deadlineMs / 1000} s`;
  }
  const { code } = error as NodeJS.ErrnoException;
  return `the push service could not be reached${code === undefined ? "" : ` (${code})`}`;
}
