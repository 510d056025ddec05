import { HoldfastError } from "../../../contract/error.ts";
import { isOlder } from "../../../model/trash-days.ts";
import { type CommandEntry, jsonOption, yesOption } from "../../command.ts";
import { trashLines } from "../../render/trash.ts";
import { count } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [{ name: "id", description: "only this one", optional: true, completes: "trash" }],
  options: [
    { long: "older-than", value: "days", description: "only what has been there for more counted days" },
    yesOption,
    jsonOption,
  ],
  examples: [
    ["remove what is older than a week", "holdfast trash empty --older-than 7"],
    ["remove one", "holdfast trash empty ma-12"],
  ],
  notes:
    "This is the one command that deletes work. It asks first. --older-than counts the days on which a daemon ran, as the " +
    "automatic removal does: a wrong clock removes nothing.",
  daemon: "starts",
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
      throw new HoldfastError("not-found", `Nothing in the trash is called ${id}.`, { hint: "See holdfast trash ls." });
    }
    if (entries.length > 0 && !input.flag("yes")) {
      context.err(trashLines(entries, context.paint, context.now()).join("\n"));
      const { askYesNo } = await import("../../confirm.ts");
      const question = `Remove ${count(entries.length, "worktree")} for good?`;
      if (!context.isTerminal(0) || !(await askYesNo(question))) {
        throw new HoldfastError(
          "conflict",
          "Nothing was removed.",
          context.isTerminal(0) ? {} : { hint: "Add --yes to remove it." },
        );
      }
    }
    // By id, each of them: what came into the trash since the question was not asked about.
    const removed = [];
    for (const entry of entries) removed.push(...(await context.call("trashEmpty", { body: { id: entry.id } })));
    if (input.flag("json")) context.json(removed);
    else context.out(removed.length === 0 ? "Nothing to remove." : `Removed ${count(removed.length, "worktree")}.`);
  },
};
