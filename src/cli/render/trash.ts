/** `trash ls`. */
import type { TrashJson } from "../../contract/wire.ts";
import type { Paint } from "./paint.ts";
import { clean, count } from "./text.ts";
import { formatAgeOf } from "../../model/duration.ts";
import { compareNaturally } from "../../model/text.ts";

export function trashLines(entries: readonly TrashJson[], paint: Paint, now: number): string[] {
  if (entries.length === 0) return ["The trash is empty."];
  return entries
    .toSorted((a, b) => compareNaturally(a.session, b.session) || compareNaturally(a.id, b.id))
    .flatMap((entry) => {
      const work = [
        ...(entry.uncommitted === 0 ? [] : [count(entry.uncommitted, "uncommitted file")]),
        ...(entry.unpushed.length === 0 ? [] : [count(entry.unpushed.length, "unpushed commit")]),
      ].join(", ");
      const parts = [
        paint.green(clean(entry.id)),
        clean(entry.session),
        paint.dim(`(${formatAgeOf(entry.trashedAt, now)})`),
        ...(entry.branch === null ? [] : [paint.cyan(clean(entry.branch))]),
        ...(work === "" ? [] : [paint.yellow(work)]),
        ...(entry.keptUntil === undefined ? [] : [paint.dim(`kept until ${entry.keptUntil}`)]),
      ];
      return [parts.join("  "), paint.dim(`  ${clean(entry.path)}`)];
    });
}
