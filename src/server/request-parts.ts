/** Pieces of a request that both plain requests and upgrades read. */
import type { IncomingMessage } from "node:http";
import { quoted, Refusal } from "./refusal.ts";

/** Split by hand: `new URL` would resolve `..` before anybody could see it. */
export function splitUrl(request: IncomingMessage): { path: string; search: string } {
  const url = request.url ?? "/";
  const at = url.indexOf("?");
  return at < 0 ? { path: url, search: "" } : { path: url.slice(0, at), search: url.slice(at + 1) };
}

export function readCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  const cursor = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(cursor)) {
    throw new Refusal("invalid", `after must be a cursor (a whole number), not ${quoted(text)}.`);
  }
  return cursor;
}
