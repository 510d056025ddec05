import { chatArgument, type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import { runVerb, sayNotes } from "../session/verb.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [noWaitOption, jsonOption],
  examples: [["replace the agent's process", "holdfast acp restart ma-12"]],
  notes: "Ends the agent politely and starts it again; the new process goes on in the same conversation.",
  daemon: "starts",
  async run(context, input) {
    const words = { done: "restarted", recorded: "will be restarted", verb: "restart the agent of" };
    sayNotes(context, input, await runVerb(context, input, "acpRestart", words));
  },
};
