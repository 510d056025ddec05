/**
 * Which names this daemon answers for. A page of another site can reach a loopback port by pointing its own name at
 * 127.0.0.1; the Host it sends is then not one of these. "Any loopback" and "Origin equals Host" are both holes.
 */
import { isLoopback, hostOf } from "../base/addresses.ts";
import { hostname, networkInterfaces } from "node:os";
import { HoldfastError } from "../contract/errors.ts";

export type AuthMode = "token" | "passphrase";

/** This machine's addresses change (Wi-Fi, VPN), but reading them for every refused request would help attackers. */
const refreshMs = 5_000;
const ownPorts = { http: 80, https: 443 };

export type Hosts = ReturnType<typeof createHosts>;

export interface HostsOptions {
  /** Each adds exactly one Host and one Origin. */
  publicUrls?: readonly string[];
  tls?: boolean;
  /** Whether [::1] is ours as well: another program may hold the port there. */
  hasIpv6?: () => boolean;
  /** Whether every address that browsers try for `localhost` is ours: another program there could relay to us. */
  hasLocalhost?: () => boolean;
  now?: () => number;
}

export function createHosts(host: string, port: number, options: HostsOptions = {}) {
  const { publicUrls = [], tls = false, hasIpv6 = () => true, hasLocalhost = () => true, now } = options;
  const scheme = tls ? "https" : "http";
  // Browsers leave the scheme's own port out.
  const withPort = (name: string): string[] =>
    port === ownPorts[scheme] ? [name, `${name}:${port}`] : [`${name}:${port}`];
  const fixed = new Set(["127.0.0.1", inUrl(host)].flatMap(withPort));
  const localhost = new Set(withPort("localhost"));
  const loopback6 = new Set(withPort("[::1]"));
  const publicHosts = new Set(publicUrls.map(hostOf));
  const publicOrigins = new Set(publicUrls);
  const wildcard = isWildcard(host);
  const own = cachedSet(() => ownNames().flatMap(withPort), now);

  const isOwn = (given: string): boolean => {
    const name = given.toLowerCase();
    // First: it may be the configured host, or this machine's name.
    if (localhost.has(name)) return hasLocalhost();
    if (fixed.has(name) || (loopback6.has(name) && hasIpv6())) return true;
    return wildcard && own(name);
  };
  const prefix = `${scheme}://`;
  return {
    /** @param given the `Host` header as it came. */
    allows: (given: string): boolean => publicHosts.has(given.toLowerCase()) || isOwn(given),
    // Origin is exact as well: scheme, name and port. `null` (sandboxed frames, files) is never one of ours.
    allowsOrigin: (origin: string): boolean =>
      publicOrigins.has(origin) || (origin.startsWith(prefix) && isOwn(origin.slice(prefix.length))),
    /** The address to show. Not localhost: whether its other address is ours is not known yet. */
    url: `${prefix}${wildcard || host === "localhost" ? "127.0.0.1" : inUrl(host)}:${port}`,
  };
}

/** Beyond this machine a token in a file is not enough; the user's own passphrase is required. */
export function assertMayListen(host: string, mode: AuthMode, passphrasePresent: boolean): void {
  if (isLoopback(host)) return;
  const hint = "Start with --auth passphrase and --passphrase-file <file> (or HOLDFAST_PASSPHRASE), or use 127.0.0.1.";
  if (mode !== "passphrase") {
    throw new HoldfastError("usage", `Refusing to listen on ${host} without a passphrase: others could reach it.`, {
      hint,
    });
  }
  if (!passphrasePresent) {
    throw new HoldfastError("usage", `Refusing to listen on ${host}: no passphrase is set.`, { hint });
  }
}

/** Browsers turn to [::1] first for `localhost`: the port there must be ours as well. */
export function isAlsoIpv6(host: string): boolean {
  return host === "127.0.0.1" || host === "localhost" || host === "0.0.0.0";
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** Whether a connection from there comes from this machine: its own addresses in the network included. */
export function createOwnAddresses(now?: () => number): (address: string | undefined) => boolean {
  const own = cachedSet(ownAddresses, now);
  return (address) => {
    // A link-local address comes with its interface.
    const bare = address?.toLowerCase().replace(/^::ffff:(?=\d+\.)|%.*$/g, "");
    return bare !== undefined && (isLoopback(bare) || own(bare));
  };
}

function cachedSet(read: () => string[], now = () => performance.now()): (name: string) => boolean {
  let known = new Set<string>();
  let readAt = -Infinity;
  return (name) => {
    if (!known.has(name) && now() - readAt > refreshMs) {
      readAt = now();
      known = new Set(read());
    }
    return known.has(name);
  };
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((each) => each.address.toLowerCase()));
}

function ownNames(): string[] {
  return [hostname(), ...ownAddresses()].map((name) => inUrl(name).toLowerCase());
}

/** IPv6 addresses need brackets if a port may follow. */
function inUrl(host: string): string {
  return host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase();
}
