import { type CommandEntry, jsonOption, noWaitOption, sessionArgument } from "../../entry-types.ts";
import { runVerb, sayNotes } from "../../verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [noWaitOption, jsonOption],
  examples: [["end it and everything it started", "holdfast session kill ma-12"]],
  notes:
    "Its processes end, children included; its worktree goes to the trash, whole, and stays there for 14 days.\nOnly holdfast session restore brings it back.",
  daemon: "starts",
  async run(context, input) {
    const answer = await runVerb(context, input, "kill", { done: "killed", recorded: "will be killed" });
    sayNotes(context, input, answer);
  },
};
