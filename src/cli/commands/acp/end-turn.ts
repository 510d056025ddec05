import { chatArgument, type CommandEntry, jsonOption } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { verbFailure } from "../session/verb.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [jsonOption],
  examples: [["a turn that never ends", "holdfast acp end-turn ma-12"]],
  notes:
    "Ends the turn without the agent's word, for an agent that does not answer a cancel. The agent keeps running, and\nwhat it still says is shown. Refused while no turn is in flight.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    try {
      const session = await context.call("endTurn", { params: { id }, body: {} });
      if (input.flag("json")) context.json(session);
      else context.out(`Turn of session ${clean(id)} ended by force.`);
    } catch (error) {
      throw await verbFailure(context, "end the turn of", id, error);
    }
  },
};
