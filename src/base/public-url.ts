/** Addresses under which browsers reach the daemon from elsewhere: through a TLS proxy, Tailscale Serve or `ssh -L`. */

import { bareHost, isLoopback } from "./loopback.ts";

/** The address as an origin (`https://box.example`, `http://localhost:8080`), or the reason why it is not one. */
export function readPublicUrl(text: string): { url: string } | { wrong: string } {
  // URL would take `https:box` and `https://a\b`, and drop tabs: only the plain spelling is accepted.
  if (!/^https?:\/\/[^\s\\*?#@]+$/i.test(text)) {
    if (text.includes("*")) return { wrong: "a wildcard would let in names that are not yours" };
    if (text.includes("@")) return { wrong: "it must not contain a login" };
    if (/^https?:\/\//i.test(text)) return { wrong: "it must be scheme, name and port alone" };
    return { wrong: "it must start with https://" };
  }
  const url = URL.parse(text);
  if (url === null || url.hostname === "") return { wrong: "it is not an address" };
  if (url.pathname !== "/") return { wrong: "it must not contain a path: Holdfast needs a name or a port to itself" };
  if (url.protocol === "http:" && !isLoopback(bareHost(url.hostname))) {
    return { wrong: "without TLS a browser keeps no keys: use https (http only for localhost, as for ssh -L)" };
  }
  return { url: url.origin };
}

/** The `Host` header that a browser sends for an origin. */
export function hostOf(origin: string): string {
  return origin.slice(origin.indexOf("//") + 2);
}
