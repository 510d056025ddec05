import { type CommandEntry, jsonOption } from "../../command.ts";
import { workerLines } from "../../render/workers.ts";

export const command: CommandEntry = {
  options: [jsonOption],
  examples: [["the chat agents that run", "holdfast acp ps"]],
  notes:
    "BUILD shows (stale) where a newer agent or keeper is installed: it is replaced at the next idle moment.\nDETACHED says yes where the agent runs without its keeper; it loses nothing by that.",
  daemon: "starts",
  async run(context, input) {
    const workers = await context.call("workers");
    if (input.flag("json")) context.json(workers);
    else context.out(workerLines(workers, context.now()).join("\n"));
  },
};
