/** A line of the daemon's log for people; what is no JSON of ours is shown as it is. */
import type { Paint } from "./paint.ts";
import { clean } from "./text.ts";

export function logLine(text: string, paint: Paint): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return clean(text);
  }
  if (typeof entry["message"] !== "string") return clean(text);
  const { at, level, message, ...fields } = entry as { at?: unknown; level?: unknown; message: string };
  const when = typeof at === "string" ? at.replace("T", " ").replace(/Z$/, "") : "";
  const word = typeof level === "string" ? clean(level) : "info";
  const colour = word === "error" ? paint.red : word === "warn" ? paint.yellow : paint.dim;
  const details = Object.entries(fields).map(
    ([name, value]) => `${name}=${clean(typeof value === "string" ? value : JSON.stringify(value))}`,
  );
  return [paint.dim(when), colour(word.padEnd(5)), clean(message), ...details].filter((part) => part !== "").join("  ");
}
