import { type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import { sessionsArgument, verbOnAll } from "./several.ts";

export const command: CommandEntry = {
  arguments: [sessionsArgument],
  options: [noWaitOption, jsonOption],
  examples: [
    ["end it and everything it started", "holdfast session kill ma-12"],
    ["several at once", "holdfast session kill ma-12 ma-13"],
  ],
  notes:
    "Its processes end, children included; its worktree goes to the trash, whole, and stays there for 14 days.\nOnly holdfast session restore brings it back.",
  daemon: "starts",
  run: (context, input) => verbOnAll(context, input, "kill", { done: "killed", recorded: "will be killed" }),
};
