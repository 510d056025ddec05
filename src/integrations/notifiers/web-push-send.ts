/** One push to one browser's push service, and what its answer means. The address is a secret: no message repeats it. */
import type { IncomingMessage } from "node:http";
import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { special4 } from "../../base/addresses.ts";
import type { Message } from "./web-push.ts";

/** Doubled from one failure to the next. */
const firstRestMs = 30_000;
const longestRestMs = 15 * 60_000;
/** Sessions that wait at once for one browser; of more the oldest is left out. */
const mostWaiting = 20;

export class Rest {
  until = 0;
  #failures = 0;
  readonly #waiting = new Map<string, Message>();
  #timer: NodeJS.Timeout | undefined;

  begin(now: number, asked: number | null): void {
    const own = firstRestMs * 2 ** Math.min(this.#failures++, 10);
    this.until = now + Math.min(asked ?? own, longestRestMs);
  }

  end(): void {
    this.#failures = 0;
    this.until = 0;
  }

  hold(message: Message): void {
    // Behind the others again: the first one is left out first.
    this.#waiting.delete(message.topic);
    this.#waiting.set(message.topic, message);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > mostWaiting && oldest !== undefined) this.#waiting.delete(oldest);
  }

  /** What waits, which then waits no more. */
  take(newerThan: number): Message[] {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    return all.filter(({ at }) => at > newerThan);
  }

  /** Once, however often it is asked for. */
  wake(now: number, then: () => void): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return;
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
    this.#waiting.clear();
  }
}

/** What browsers' own push services give out has a few hundred characters. */
const maxAddressLength = 2048;

/** The sentence that refuses it, or null. `loopback`: a test's own push service may be asked as well. */
export function refuseAddress(address: string, loopback: boolean): string | null {
  const url = URL.parse(address);
  if (url === null || address.length > maxAddressLength) return "It is no address of a push service.";
  if (url.username !== "" || url.password !== "") return "An address of a push service holds no login.";
  if (loopback && url.protocol === "http:" && url.hostname === "127.0.0.1") return null;
  if (url.protocol !== "https:") return "A push service is asked over https only.";
  const host = url.hostname.replace(/^\[|\]$|\.+$/g, "");
  const named = host === "localhost" || host.endsWith(".localhost");
  return named || (isIP(host) !== 0 && isPrivate(host)) ? "A push service has a public address." : null;
}

/** In the place of the system's: a public name that points into a private network leads nowhere. */
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
    super("its name leads to a private address");
  }
}

let list: BlockList | undefined;

export function isPrivate(address: string): boolean {
  list ??= privateList();
  // An IPv4 address in the notation of IPv6 is looked up among those of IPv4.
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function privateList(): BlockList {
  const made = new BlockList();
  const six: [string, number][] = [
    ["::", 127],
    // Ways to IPv4 addresses, private ones among them: NAT64 (RFC 6052, 8215), 6to4, Teredo.
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
    ["2002::", 16],
    ["2001::", 32],
    // For documentation, and to be dropped.
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
  /** The browser is gone for good, or nobody wants its pushes any more. */
  | { is: "gone" }
  /** Not now: again after `ms`, where the service said so. */
  | { is: "later"; why: string; ms: number | null }
  | { is: "refused"; why: string };

/** Nobody waits for it; a service that takes longer is taken for gone. */
const deadlineMs = 10_000;
/** As long as a notification is news (NOTE-3). */
export const lifeSeconds = 3600;

export async function sendPush(parcel: Parcel, loopback: boolean, signal: AbortSignal): Promise<Outcome> {
  // Again here: what is kept may have been put there by another version, or by hand.
  const wrong = refuseAddress(parcel.endpoint, loopback);
  if (wrong !== null) return { is: "refused", why: wrong };
  try {
    return judge(await post(parcel, AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])));
  } catch (error) {
    return { is: "later", why: reason(error), ms: null };
  }
}

/** Not by fetch: only here can the place that a name resolves to be looked at, and nothing follows a redirect. */
function post({ endpoint, authorization, body, topic }: Parcel, signal: AbortSignal) {
  const url = new URL(endpoint);
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request(url, {
      method: "POST",
      headers: {
        Authorization: authorization,
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "Content-Length": body.length,
        TTL: lifeSeconds,
        // A person is waited for: a phone that saves its battery would else show it when it is over.
        Urgency: "high",
        Topic: topic,
        "User-Agent": "holdfast",
      },
      lookup: publicLookup,
      agent: false,
      signal,
    });
    asked.on("response", (answer) => {
      // Only the head says anything.
      answer.destroy();
      resolve(answer);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

function judge({ statusCode = 0, headers }: IncomingMessage): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { is: "sent" };
  if (statusCode === 404 || statusCode === 410) return { is: "gone" };
  const why = `its push service answered with status ${statusCode}`;
  if (statusCode !== 429 && statusCode < 500) return { is: "refused", why };
  return { is: "later", why, ms: restOf(headers["retry-after"]) };
}

/** Seconds, or a date. */
function restOf(said: string | undefined): number | null {
  if (said === undefined) return null;
  const ms = /^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function reason(error: unknown): string {
  if (error instanceof PrivateAddress) return `its push service was not asked: ${error.message}`;
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError")) {
    return `its push service gave no answer within ${deadlineMs / 1000} s`;
  }
  const { code } = error as NodeJS.ErrnoException;
  return `its push service could not be reached${code === undefined ? "" : ` (${code})`}`;
}
