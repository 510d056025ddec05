import { type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import { sessionsArgument, verbOnAll } from "./several.ts";
import { waitingBack } from "../spawn/waits.ts";

export const command: CommandEntry = {
  arguments: [sessionsArgument],
  options: [noWaitOption, jsonOption],
  examples: [["take it out again", "holdfast session unarchive ma-12"]],
  notes: "It runs again, in its own conversation.",
  daemon: "starts",
  run: (context, input) =>
    verbOnAll(
      context,
      input,
      "unarchive",
      { done: "taken out of the archive", recorded: "will be taken out of the archive" },
      { calls: waitingBack(context, input) },
    ),
};
