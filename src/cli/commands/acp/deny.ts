import { answerQuestion, requestOption } from "../../answer-question.ts";
import { chatArgument, type CommandEntry, jsonOption } from "../../entry-types.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [
    { long: "always", description: "also from now on, where the agent offers that" },
    requestOption,
    jsonOption,
  ],
  examples: [["do not let it do what it asks for", "holdfast acp deny ma-12"]],
  notes:
    "Answers the oldest open question. A question is answered once, by whoever comes first; exit code 1 otherwise.",
  daemon: "starts",
  run: (context, input) => answerQuestion(context, input, "deny"),
};
