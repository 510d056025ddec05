import { join } from "node:path";
import { HoldfastError } from "../../../contract/error.ts";
import { type CommandEntry } from "../../command.ts";
import { logLine } from "../../render/log.ts";
import { followFile, lastLines } from "./tail-file.ts";

const defaultLines = 50;

export const command: CommandEntry = {
  options: [
    {
      long: "lines",
      short: "n",
      value: "number",
      description: `how many lines (default ${defaultLines})`,
      completes: "none",
    },
    { long: "follow", short: "f", description: "go on as lines come" },
    { long: "json", description: "the log as it is stored, one JSON object a line" },
  ],
  examples: [
    ["the last lines", "holdfast logs"],
    ["follow it", "holdfast logs -n 10 -f"],
  ],
  notes:
    "For more detail: `HOLDFAST_LOG=debug holdfast restart`, and `HOLDFAST_LOG=info holdfast restart` for less again.",
  daemon: "alone",
  async run(context, input) {
    const wanted = input.text("lines") ?? String(defaultLines);
    if (!/^\d{1,7}$/.test(wanted)) throw new HoldfastError("usage", `-n must be a whole number, not ${wanted}.`);
    const path = join(context.paths.logs, "daemon.log");
    const found = lastLines(path, Number(wanted));
    const print = (line: string): void => context.out(input.flag("json") ? line : logLine(line, context.paint));
    if (found === null && !input.flag("follow")) {
      throw new HoldfastError("not-found", `There is no log yet: ${path}`, {
        hint: "Start the daemon with holdfast start.",
      });
    }
    for (const line of found?.lines ?? []) print(line);
    if (!input.flag("follow")) return;
    for await (const line of followFile(path, found ?? { end: 0, inode: 0 })) print(line);
  },
};
