/**
 * The allow list of a contained session: the hosts and ports its agent may reach. An entry is a host name or address
 * (`api.example.com`, `192.0.2.7`, `[2001:db8::7]`), `*.example.com` for every name below it, or `*` for every public
 * host; with `:port` it allows that port instead of 443 and 80.
 */
import { isIPv4, isIPv6 } from "node:net";

export interface AllowEntry {
  /** Canonical; without the `*.` of a wildcard; empty for `*`. */
  host: string;
  match: "exact" | "below" | "any";
  /** Null: the default ports. */
  port: number | null;
}

/** `literal`: the list contains exactly this host and port, so the address may be private. */
export type Verdict = "no" | "public" | "literal";

const defaultPorts = new Set([443, 80]);
/** DNS names, and underscores, which private networks use. */
const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/**
 * One spelling per host; null if it is neither a name nor an address. Other spellings of IPv4 addresses (`127.1`,
 * `0x7f000001`) are refused: the resolver would take them for addresses that the list does not name.
 */
export function canonicalHost(text: string): string | null {
  if (text.startsWith("[") && text.endsWith("]")) return canonicalAddress(text.slice(1, -1));
  const host = text.toLowerCase().replace(/\.$/, "");
  if (isIPv4(host)) return host;
  if (!hostName.test(host) || /(^|\.)(\d+|0x[0-9a-f]*)$/.test(host)) return null;
  return host;
}

/** An IPv6 address in its shortest form. */
function canonicalAddress(text: string): string | null {
  if (!isIPv6(text) || text.includes("%")) return null;
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

/** `host:port`, with an IPv6 address in brackets. */
export function endpointText(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A port number, or null. */
export function portOf(text: string): number | null {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : null;
}

/** Splits `host:port`; an IPv6 address must be in brackets. */
export function splitAuthority(text: string): { host: string; port: string | null } | null {
  const parts = /^(\[[^\][]*\]|[^:[\]]*)(?::(.*))?$/.exec(text);
  return parts === null ? null : { host: parts[1]!, port: parts[2] ?? null };
}

export function parseAllow(text: string): AllowEntry | { problem: string } {
  const problem = (why: string) => ({ problem: `"${text}" ${why}` });
  if (text.includes("/")) return problem("is not a host name; omit the scheme and the path.");
  const parts = splitAuthority(text.trim());
  if (parts === null) return problem("is not a host name; write IPv6 addresses in brackets.");
  const port = parts.port === null ? null : portOf(parts.port);
  if (parts.port !== null && port === null) return problem("has an invalid port; use a number from 1 to 65535.");
  if (parts.host === "*") return { host: "", match: "any", port };
  const below = parts.host.startsWith("*.");
  const host = canonicalHost(below ? parts.host.slice(2) : parts.host);
  if (host === null || (below && isIPv4(host)))
    return problem("is not a host name; use example.com, *.example.com or an address.");
  return { host, match: below ? "below" : "exact", port };
}

/** Invalid entries allow nothing. */
export function readAllow(texts: readonly string[]): AllowEntry[] {
  return texts.map(parseAllow).filter((entry): entry is AllowEntry => !("problem" in entry));
}

export function judge(entries: readonly AllowEntry[], host: string, port: number): Verdict {
  let verdict: Verdict = "no";
  for (const entry of entries) {
    if (entry.port === null ? !defaultPorts.has(port) : entry.port !== port) continue;
    const { host: listed, match } = entry;
    if (match !== "any" && (match === "below" ? !host.endsWith(`.${listed}`) : host !== listed)) continue;
    if (entry.match === "exact" && entry.port !== null) return "literal";
    verdict = "public";
  }
  return verdict;
}
