import { existsSync, rmSync } from "node:fs";
import type { CommandEntry } from "../../entry-types.ts";
import { describeService, runAll } from "../../service.ts";

export const command: CommandEntry = {
  options: [{ long: "print", description: "only print what would be done" }],
  examples: [["do not start at login any more", "holdfast service uninstall"]],
  notes: "Ends the daemon if the service runs it; sessions keep running. Nothing else is removed.",
  daemon: "alone",
  async run(context, input) {
    const service = describeService(context, []);
    if (!existsSync(service.file)) {
      context.out("No service is installed.");
      return 0;
    }
    if (input.flag("print")) {
      context.out([...service.disable.map((line) => line.join(" ")), `rm ${service.file}`].join("\n"));
      return 0;
    }
    const ran = runAll(context, service.disable);
    rmSync(service.file);
    context.out(`Removed ${service.file}`);
    return ran ? 0 : 1;
  },
};
