import { type CommandEntry, jsonOption } from "../../command.ts";
import { trashLines } from "../../render/trash.ts";

export const command: CommandEntry = {
  options: [jsonOption],
  examples: [["what is kept, and until when", "holdfast trash ls"]],
  notes: "Worktrees of killed and deleted sessions are kept here for 14 days, whole.",
  daemon: "starts",
  async run(context, input) {
    const entries = await context.call("trash");
    if (input.flag("json")) context.json(entries);
    else context.out(trashLines(entries, context.paint, context.now()).join("\n"));
  },
};
