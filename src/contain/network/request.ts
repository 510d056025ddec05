/** The head of a request to the proxy: its host and port, and the head to send on for plain http. */
import { canonicalHost, portOf, splitAuthority } from "./allow-list.ts";

/** A bridge, or the daemon during a launch, keeps the proxy running with one open connection. */

/** No program sends this method by accident. */
const holdMethod = "HOLDFAST";

/** `lingerMs`: how long the proxy stays after the connection closes. */
export function holdRequest(lingerMs: number): string {
  return `${holdMethod} / HTTP/1.1\r\nLinger: ${lingerMs}\r\n\r\n`;
}

export type Head =
  /** Keeps the proxy running. */
  | { is: "hold"; lingerMs: number }
  | { is: "connect"; host: string; port: number }
  /** `head`: in the form that the server expects. */
  | { is: "forward"; host: string; port: number; head: string }
  | { is: "invalid"; why: string };

const lingerHeader = /^linger: (\d{1,6})$/im;
/** Headers of the connection to the proxy, not of the request. */
const hopHeaders = /^(proxy-[^:]*|connection|keep-alive|te|host):/i;

/** `text`: everything before the empty line, as latin1. */
export function parseHead(text: string): Head {
  const [first = "", ...headers] = text.split("\r\n");
  const line = /^([A-Z]{1,20}) (\S{1,8192}) HTTP\/1\.[01]$/.exec(first);
  if (line === null) return { is: "invalid", why: "not a request to a proxy" };
  const [, method = "", target = ""] = line;
  if (method === holdMethod) return { is: "hold", lingerMs: Number(lingerHeader.exec(text)?.[1] ?? 0) };
  if (method === "CONNECT") {
    const endpoint = endpointOf(target, null);
    return endpoint === null ? { is: "invalid", why: "the host or port is not valid" } : { is: "connect", ...endpoint };
  }
  const url = /^http:\/\/([^/?#@\s]+)([/?]\S*)?$/i.exec(target);
  const endpoint = url === null ? null : endpointOf(url[1]!, 80);
  if (endpoint === null) return { is: "invalid", why: "only CONNECT and http:// requests are supported" };
  const path = (url?.[2] ?? "/").replace(/^\?/, "/?");
  return { is: "forward", ...endpoint, head: forwarded(method, path, url![1]!, headers) };
}

/** One request per connection: a program that reused the connection for another host would reach the first one. */
function forwarded(method: string, path: string, authority: string, headers: readonly string[]): string {
  const upgrade = headers.some((header) => /^upgrade:/i.test(header));
  const kept = headers.filter((header) => !hopHeaders.test(header));
  const connection = `Connection: ${upgrade ? "Upgrade" : "close"}`;
  return [`${method} ${path} HTTP/1.1`, `Host: ${authority}`, ...kept, connection, "", ""].join("\r\n");
}

function endpointOf(authority: string, defaultPort: number | null): { host: string; port: number } | null {
  const parts = splitAuthority(authority);
  const host = parts === null ? null : canonicalHost(parts.host);
  const port = parts === null ? null : parts.port === null ? defaultPort : portOf(parts.port);
  return host === null || port === null ? null : { host, port };
}
