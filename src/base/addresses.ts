/** Network addresses: public URLs, loopback hosts, special IPv4 networks. */

/**
 * A public address of the daemon (through a TLS proxy, Tailscale Serve or `ssh -L`) as an origin,
 * `https://box.example` or `http://localhost:8080`; or why it is invalid.
 */
export function readPublicUrl(text: string): { url: string } | { wrong: string } {
  // URL.parse accepts `https:box` and `https://a\b`, and drops tabs: only the plain spelling is valid.
  if (!/^https?:\/\/[^\s\\*?#@]+$/i.test(text)) {
    if (text.includes("*")) return { wrong: "a wildcard would admit names that are not yours" };
    if (text.includes("@")) return { wrong: "it must not contain a login" };
    if (/^https?:\/\//i.test(text)) return { wrong: "it must consist of scheme, name and port only" };
    return { wrong: "it must start with https://" };
  }
  const url = URL.parse(text);
  if (url === null || url.hostname === "") return { wrong: "it is not a valid address" };
  if (url.pathname !== "/") return { wrong: "it must not contain a path: Holdfast needs its own name or port" };
  if (url.protocol === "http:" && !isLoopback(bareHost(url.hostname))) {
    return { wrong: "without TLS, browsers store no keys: use https (http only for localhost, e.g. with ssh -L)" };
  }
  return { url: url.origin };
}

/** The `Host` header that a browser sends for an origin. */
export function hostOf(origin: string): string {
  return origin.slice(origin.indexOf("//") + 2);
}

/** Whether a host (a name, or an address without brackets) is this machine only. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A URL's host (`[::1]`, `LocalHost`) without brackets, in lower case. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
}

/** IPv4 networks that are not globally reachable, per IANA's special-purpose registry, and multicast. */
export const special4: [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];
