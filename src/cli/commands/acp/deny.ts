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
  examples: [["refuse the request you read", "holdfast acp deny ma-12 q41"]],
  notes: answerNotes,
  daemon: "starts",
  run: (context, input) => answerQuestion(context, input, "deny"),
};
