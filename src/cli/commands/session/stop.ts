import { type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import { sessionsArgument, verbOnAll } from "./several.ts";

export const command: CommandEntry = {
  arguments: [sessionsArgument],
  options: [noWaitOption, jsonOption],
  examples: [
    ["stop it gracefully for now", "holdfast session stop ma-12"],
    ["several at once", "holdfast session stop ma-12 ma-13"],
  ],
  notes: "Worktree and conversation are kept. The next prompt, or holdfast session restore, brings it back.",
  daemon: "starts",
  run: (context, input) => verbOnAll(context, input, "stop", { done: "stopped", recorded: "will be stopped" }),
};
