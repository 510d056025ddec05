import { existsSync, rmSync } from "node:fs";
import type { Context } from "../../context.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { describeService, runAll } from "../../system/service/service.ts";
import { quoteShellWord } from "../../../model/text.ts";

export const command: CommandEntry = {
  options: [{ long: "print", description: "only print what would be done" }, jsonOption],
  examples: [["no longer start at login", "holdfast service uninstall"]],
  notes: "Ends the daemon if the service runs it; sessions keep running. Nothing else is removed.",
  daemon: "alone",
  async run(shown, input) {
    const json = input.flag("json");
    const context: Context = json ? { ...shown, out: () => undefined } : shown;
    const { manager, file, disable } = describeService(context, []);
    if (!existsSync(file)) {
      if (json) context.json({ manager, file, removed: false, ran: [], note: null });
      context.out("No service is installed.");
      return 0;
    }
    if (input.flag("print")) {
      const lines = [...disable.map((line) => line.join(" ")), `rm ${quoteShellWord(file)}`];
      if (json) context.json({ manager, file, removed: false, ran: [], left: lines, note: null });
      context.out(lines.join("\n"));
      return 0;
    }
    const { ran, failed } = runAll(disable);
    rmSync(file);
    for (const line of ran) context.out(`Ran: ${line}`);
    context.out(`Removed ${file}`);
    // Without a bus (a container, a bare ssh session) there is no manager that could still run it.
    const note =
      failed === null ? null : `${manager} could not be asked to stop it (${failed.why}); the file is removed.`;
    if (note !== null) context.out(note);
    if (json) context.json({ manager, file, removed: true, ran, note });
    return 0;
  },
};
