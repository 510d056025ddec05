import { type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import { sessionsArgument, verbOnAll } from "./several.ts";

export const command: CommandEntry = {
  arguments: [sessionsArgument],
  options: [noWaitOption, jsonOption],
  examples: [["archive it", "holdfast session archive ma-12"]],
  notes:
    "Its processes end; worktree and conversation are kept. The next prompt, or holdfast session unarchive, brings it back.",
  daemon: "starts",
  run: (context, input) => verbOnAll(context, input, "archive", { done: "archived", recorded: "will be archived" }),
};
