import { type CommandEntry, jsonOption, sessionArgument } from "../../command.ts";
import { inert } from "../../render/text.ts";
import { verbFailure } from "./verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [{ long: "lines", short: "n", value: "number", description: "how many of the last lines" }, jsonOption],
  examples: [
    ["what it shows now", "holdfast session screen ma-12"],
    ["more of what went before", "holdfast session screen ma-12 -n 500"],
  ],
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    try {
      const { lines } = await context.call("screen", { params: { id }, query: { lines: input.text("lines") } });
      if (input.flag("json")) context.json(lines);
      else context.out(lines.map(inert).join("\n"));
    } catch (error) {
      throw await verbFailure(context, "show the screen of", id, error);
    }
  },
};
