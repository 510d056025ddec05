import { answerNotes, answerQuestion, questionArgument, requestOption } from "./permissions.ts";
import { chatArgument, type CommandEntry, jsonOption, yesOption } from "../../command.ts";

export const command: CommandEntry = {
  arguments: [chatArgument, questionArgument],
  options: [
    { long: "always", description: "also from now on, where the agent offers that" },
    requestOption,
    yesOption,
    jsonOption,
  ],
  examples: [
    ["allow the only open request; asks you to confirm", "holdfast acp approve ma-12"],
    ["allow the request you read", "holdfast acp approve ma-12 q41"],
    ["and not ask again", "holdfast acp approve ma-12 q41 --always"],
  ],
  notes: answerNotes,
  daemon: "starts",
  run: (context, input) => answerQuestion(context, input, "approve"),
};
