import { type CommandEntry, jsonOption } from "../../command.ts";
import { clean } from "../../render/text.ts";

export const command: CommandEntry = {
  arguments: [{ name: "id", description: "of the kept worktree, or of its session", completes: "trash" }],
  options: [jsonOption],
  examples: [["put a deleted session's worktree back", "holdfast trash restore ma-12"]],
  notes: "For a session that still exists, holdfast session restore brings both back.",
  daemon: "starts",
  async run(context, input) {
    const entry = await context.call("trashRestore", { params: { id: input.arg(0) }, body: {} });
    if (input.flag("json")) context.json(entry);
    else context.out(`Restored ${clean(entry.id)} to ${clean(entry.path)}.`);
  },
};
