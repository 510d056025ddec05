import { type CommandEntry, jsonOption, noWaitOption, sessionArgument } from "../../entry-types.ts";
import { runVerb, sayNotes } from "../../verb.ts";
import { waitingBack } from "../../waits.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [noWaitOption, jsonOption],
  examples: [["take it out again", "holdfast session unarchive ma-12"]],
  notes: "It runs again, in its own conversation.",
  daemon: "starts",
  async run(context, input) {
    const answer = await runVerb(waitingBack(context, input), input, "unarchive", {
      done: "taken out of the archive",
      recorded: "will be taken out of the archive",
    });
    sayNotes(context, input, answer);
  },
};
