import { type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import { sessionsArgument, verbOnAll } from "./several.ts";
import { waitingBack } from "../spawn/waits.ts";

export const command: CommandEntry = {
  arguments: [sessionsArgument],
  options: [noWaitOption, jsonOption],
  examples: [["end its snooze now", "holdfast session wake ma-12"]],
  notes: "It runs again, in its own conversation.",
  daemon: "starts",
  run: (context, input) =>
    verbOnAll(
      context,
      input,
      "wake",
      { done: "woken", recorded: "will be woken" },
      { calls: waitingBack(context, input) },
    ),
};
