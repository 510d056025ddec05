import { type CommandEntry, jsonOption, sessionArgument } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { verbFailure } from "./verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument, { name: "title", description: "its new title", variadic: true, completes: "none" }],
  options: [jsonOption],
  examples: [["give it a title", "holdfast session rename ma-12 Login page"]],
  notes: "The id stays: it is never changed and never used again.",
  daemon: "starts",
  async run(context, input) {
    const [id = "", ...words] = input.args;
    const title = words.join(" ");
    try {
      const session = await context.call("rename", { params: { id }, body: { title } });
      if (input.flag("json")) context.json(session);
      else context.out(`Session ${session.id} renamed: ${clean(session.title)}`);
    } catch (error) {
      throw await verbFailure(context, "rename", id, error);
    }
  },
};
