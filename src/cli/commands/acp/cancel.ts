import { chatArgument, type CommandEntry, jsonOption } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { stopWords } from "../../render/transcript.ts";
import { verbFailure } from "../session/verb.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [jsonOption],
  examples: [["ask the agent to stop what it does", "holdfast acp cancel ma-12"]],
  notes: "Waits until the agent has ended its turn; exit code 1 where it has not. The session keeps running.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    try {
      const answer = await context.call("cancel", { params: { id }, body: {} });
      const { cancelled, stopReason, reason } = answer;
      if (input.flag("json")) context.json(answer);
      else if (!cancelled) context.err(clean(reason ?? "The turn was not cancelled."));
      else if (stopReason === null || stopReason === "cancelled") context.out("Turn cancelled.");
      else if (stopReason === "end_turn") context.out("Turn finished.");
      else context.out(`Turn ended: ${clean(stopWords(stopReason))}.`);
      return cancelled ? 0 : 1;
    } catch (error) {
      throw await verbFailure(context, "cancel the turn of", id, error);
    }
  },
};
