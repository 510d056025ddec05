import { HoldfastError } from "../../../contract/error.ts";
import { chatArgument, type CommandEntry, jsonOption } from "../../command.ts";
import { inert } from "../../render/text.ts";
import { verbFailure } from "../session/verb.ts";

const defaultLines = 100;

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [
    {
      long: "lines",
      short: "n",
      value: "number",
      description: `how many lines (default ${defaultLines})`,
      completes: "none",
    },
    jsonOption,
  ],
  examples: [["why it does not start", "holdfast acp logs ma-12 -n 20"]],
  notes: "What the agent wrote to stderr. What it said is in holdfast acp history.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const wanted = input.text("lines") ?? String(defaultLines);
    if (!/^[1-9]\d{0,6}$/.test(wanted)) {
      throw new HoldfastError("usage", `-n must be a whole number above 0, not ${wanted}.`);
    }
    try {
      const answer = await context.call("acpLogs", { params: { id }, query: { lines: wanted } });
      if (input.flag("json")) context.json(answer);
      else if (answer.lines.length > 0) context.out(answer.lines.map(inert).join("\n"));
    } catch (error) {
      throw await verbFailure(context, "show the agent's log of", id, error);
    }
  },
};
