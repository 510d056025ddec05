import { answerQuestion, requestOption } from "../../answer-question.ts";
import { chatArgument, type CommandEntry, jsonOption } from "../../entry-types.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [
    { long: "always", description: "also from now on, where the agent offers that" },
    requestOption,
    jsonOption,
  ],
  examples: [
    ["let it do what it asks for", "holdfast acp approve ma-12"],
    ["and not ask again", "holdfast acp approve ma-12 --always"],
  ],
  notes:
    "Answers the oldest open question. A question is answered once, by whoever comes first; exit code 1 otherwise.",
  daemon: "starts",
  run: (context, input) => answerQuestion(context, input, "approve"),
};
