import { type CommandEntry, jsonOption, noWaitOption, sessionArgument } from "../../entry-types.ts";
import { runVerb, sayNotes } from "../../verb.ts";
import { waitingBack } from "../../waits.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [noWaitOption, jsonOption],
  examples: [["end its snooze now", "holdfast session wake ma-12"]],
  notes: "It runs again, in its own conversation.",
  daemon: "starts",
  async run(context, input) {
    const answer = await runVerb(waitingBack(context, input), input, "wake", {
      done: "woken",
      recorded: "will be woken",
    });
    sayNotes(context, input, answer);
  },
};
