import { HoldfastError } from "../../../contract/error.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { clean, table } from "../../render/text.ts";

export const command: CommandEntry = {
  options: [jsonOption],
  examples: [["your rules, in the order in which they are tried", "holdfast permissions ls"]],
  notes:
    "Rules are in your own config.yaml, under permissions, and hold for chat sessions. The first rule that matches\nanswers; what no rule matches waits for you. An agent in a terminal asks on its own screen.",
  daemon: "starts",
  async run(context, input) {
    const { file, problem, rules } = await context.call("permissionRules");
    if (input.flag("json")) context.json({ file, problem, rules });
    if (problem !== null) {
      throw new HoldfastError("invalid", `No permission rule holds: ${problem}`, {
        hint: "Correct the file. Until then every permission request waits for you.",
      });
    }
    if (input.flag("json")) return;
    if (rules.length === 0) return context.out(`No permission rules in ${clean(file)}: every request waits for you.`);
    const rows = rules.map(({ number, text, line }) => [
      String(number),
      clean(text),
      context.paint.dim(`${clean(file)}:${line}`),
    ]);
    context.out(table(rows).join("\n"));
  },
};
