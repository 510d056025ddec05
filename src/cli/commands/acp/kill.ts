import { chatArgument, type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import { runVerb, sayNotes } from "../session/verb.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [noWaitOption, jsonOption],
  examples: [["end an agent that does not listen", "holdfast acp kill ma-12"]],
  notes:
    "Stops the session by force; its last turn may be lost. Worktree and conversation are kept: the next prompt, or\nholdfast session restore, brings it back. To end a session for good: holdfast session kill.",
  daemon: "starts",
  async run(context, input) {
    const words = { done: "stopped by force", recorded: "will be stopped by force", verb: "kill the agent of" };
    sayNotes(context, input, await runVerb(context, input, "acpKill", words));
  },
};
