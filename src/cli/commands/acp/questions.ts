import { chatArgument, type CommandEntry, jsonOption } from "../../command.ts";
import { questionLines } from "../../render/question.ts";
import { verbFailure } from "../session/verb.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [jsonOption],
  examples: [
    ["open permission requests, each in full", "holdfast acp questions ma-12"],
    ["their commands, for a script", "holdfast acp questions ma-12 --json | jq -r '.[].command'"],
  ],
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    try {
      const questions = await context.call("questions", { params: { id } });
      if (input.flag("json")) return context.json(questions);
      if (questions.length === 0) return context.out("No open permission requests.");
      context.out(questions.flatMap((question) => questionLines(question, context.paint)).join("\n"));
    } catch (error) {
      throw await verbFailure(context, "list the permission requests of", id, error);
    }
  },
};
