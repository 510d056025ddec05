/** A session's events for people: when, what, and the few fields that say the most. */
import type { EventJson } from "../../contract/wire.ts";
import { shorten } from "../../model/text.ts";
import type { Paint } from "./paint.ts";
import { clean } from "./text.ts";

/** Longer values are for --json. */
const maxDetail = 100;
const leftOut = new Set(["seq", "at", "type", "lastLines", "launch", "session"]);

export function eventLine(event: EventJson, paint: Paint): string {
  const details = Object.entries(event)
    .filter(([name, value]) => !leftOut.has(name) && value !== null && value !== undefined)
    .map(
      ([name, value]) =>
        `${name}=${shorten(clean(typeof value === "string" ? value : JSON.stringify(value)), maxDetail)}`,
    );
  const when = event.at.slice(0, 19).replace("T", " ");
  return [String(event.seq).padStart(4), paint.dim(when), paint.cyan(clean(event.type)), ...details].join("  ");
}
