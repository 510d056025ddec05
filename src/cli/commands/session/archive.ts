import { type CommandEntry, jsonOption, noWaitOption, sessionArgument } from "../../entry-types.ts";
import { runVerb, sayNotes } from "../../verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [noWaitOption, jsonOption],
  examples: [["put it away", "holdfast session archive ma-12"]],
  notes:
    "Its processes end; worktree and conversation are kept. The next prompt, or holdfast session unarchive, brings it back.",
  daemon: "starts",
  async run(context, input) {
    const answer = await runVerb(context, input, "archive", { done: "archived", recorded: "will be archived" });
    sayNotes(context, input, answer);
  },
};
