/** How a bridge, or the daemon for the time of a launch, keeps the proxy from leaving: it holds one connection open. */

/** No program sends this method by accident. */
export const holdMethod = "HOLDFAST";

/** `lingerMs`: how long the proxy stays once the connection is closed. */
export function holdRequest(lingerMs: number): string {
  return `${holdMethod} / HTTP/1.1\r\nLinger: ${lingerMs}\r\n\r\n`;
}
