/**
 * Which names this daemon answers for. A page of another site can reach a loopback port by pointing its own name at
 * 127.0.0.1; the Host it sends is then not one of these. "Any loopback" and "Origin equals Host" are both holes.
 */
import { hostname, networkInterfaces } from "node:os";
import { HoldfastError } from "../protocol/error.ts";

export type AuthMode = "token" | "passphrase";

/** This machine's addresses change (Wi-Fi, VPN), but reading them for every refused request would be a gift. */
const refreshMs = 5_000;
const httpPort = 80;

export interface Hosts {
  /** The `Host` header as it came. */
  allows(host: string): boolean;
  allowsOrigin(origin: string): boolean;
  /** The address a person is shown. */
  url: string;
}

export function createHosts(host: string, port: number, now: () => number = () => performance.now()): Hosts {
  const fixed = new Set(["127.0.0.1", "localhost", "[::1]", inUrl(host)].flatMap((name) => withPort(name, port)));
  const wildcard = isWildcard(host);
  let own = new Set<string>();
  let readAt = -Infinity;

  const allows = (given: string): boolean => {
    const name = given.toLowerCase();
    if (fixed.has(name)) return true;
    if (!wildcard) return false;
    if (!own.has(name) && now() - readAt > refreshMs) {
      readAt = now();
      own = new Set(ownNames().flatMap((each) => withPort(each, port)));
    }
    return own.has(name);
  };
  return {
    allows,
    // Origin is exact as well: scheme, name and port. `null` (sandboxed frames, files) is never one of ours.
    allowsOrigin: (origin) => origin.startsWith("http://") && allows(origin.slice("http://".length)),
    url: `http://${wildcard ? "127.0.0.1" : inUrl(host)}:${port}`,
  };
}

/** Beyond this machine a token in a file protects nobody who forwards it; the person's own passphrase is asked for. */
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

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function ownNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((each) => each.address));
  return [hostname(), ...addresses].map((name) => inUrl(name).toLowerCase());
}

/** An IPv6 address stands in brackets wherever a port may follow. */
function inUrl(host: string): string {
  return host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase();
}

/** Browsers leave the scheme's own port out. */
function withPort(name: string, port: number): string[] {
  return port === httpPort ? [name, `${name}:${port}`] : [`${name}:${port}`];
}
