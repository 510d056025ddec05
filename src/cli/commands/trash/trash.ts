/** Commands on worktrees in the trash. */
import { HoldfastError } from "../../../contract/errors.ts";
import type { TrashJson } from "../../../contract/trash.ts";
import { isOlder } from "../../../model/trash-days.ts";
import { type CommandEntry, yesOption } from "../../command.ts";
import { requireYes } from "../../confirm.ts";
import { clean, count, type Paint } from "../../render/text.ts";
import { formatAgeOf } from "../../../model/duration.ts";
import { compareNaturally } from "../../../model/text.ts";
import { operationCommand } from "../operation.ts";

export const ls = operationCommand("trash", {
  examples: [["list worktrees and how long they are kept", "holdfast trash ls"]],
  notes: "Worktrees of killed and deleted sessions, with all their files, are kept for 14 days.",
  request: () => ({}),
  print: (entries, { paint, now }) => trashLines(entries, paint, now()).join("\n"),
});

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

export const empty: CommandEntry = {
  arguments: [{ name: "id", description: "Only this worktree", optional: true, completes: "trash" }],
  options: [{ long: "older-than", value: "days", description: "Only worktrees older than this many days" }, yesOption],
  examples: [
    ["delete worktrees older than a week", "holdfast trash empty --older-than 7"],
    ["delete one", "holdfast trash empty ma-12"],
  ],
  notes:
    "The only command that permanently deletes work. Asks for confirmation. --older-than counts days on which the daemon\nran, like the automatic removal, so that a wrong clock deletes nothing.",
  async run(context, input) {
    const [id] = input.args;
    const days = input.text("older-than");
    if (days !== undefined && !/^\d{1,4}$/.test(days)) {
      throw new HoldfastError("usage", `--older-than must be a number of days, not ${days}.`);
    }
    const entries = (await context.call("trash")).filter(
      (entry) =>
        (id === undefined || entry.id === id || entry.session === id) &&
        (days === undefined || isOlder(entry.days ?? 0, Number(days))),
    );
    if (id !== undefined && entries.length === 0) {
      throw new HoldfastError("not-found", `The trash has no worktree ${id}.`, { hint: "See holdfast trash ls." });
    }
    if (entries.length > 0 && !input.flag("yes")) {
      context.err(trashLines(entries, context.paint, context.now()).join("\n"));
      await requireYes(context, `Permanently delete ${count(entries.length, "worktree")}?`, {
        refusal: "Nothing was deleted.",
        hint: "Add --yes to delete without confirmation.",
      });
    }
    // By id: worktrees that were trashed since the confirmation are not included.
    const deleted = [];
    for (const entry of entries) deleted.push(...(await context.call("trashEmpty", { body: { id: entry.id } })));
    const text = deleted.length === 0 ? "Nothing to delete." : `Deleted ${count(deleted.length, "worktree")}.`;
    context.print(deleted, text);
  },
};
