import { type CommandEntry, jsonOption, noWaitOption, sessionArgument } from "../../entry-types.ts";
import { runVerb, sayNotes } from "../../verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [noWaitOption, jsonOption],
  examples: [["end it politely for now", "holdfast session stop ma-12"]],
  notes: "Worktree and conversation are kept. The next prompt, or holdfast session restore, brings it back.",
  daemon: "starts",
  async run(context, input) {
    const answer = await runVerb(context, input, "stop", { done: "stopped", recorded: "will be stopped" });
    sayNotes(context, input, answer);
  },
};
