import { type CommandEntry, jsonOption } from "../../command.ts";
import { sayStart, startJson } from "../../render/daemon.ts";

export const command: CommandEntry = {
  options: [jsonOption],
  examples: [["replace the daemon, for example after an update", "holdfast restart"]],
  notes:
    "Replays the host, port, mode and authentication that it was started with. Sessions keep running. A daemon that\nruns in the foreground or under a service manager is left to it.",
  daemon: "alone",
  async run(context, input) {
    const { restart } = await import("../../system/daemon/control.ts");
    const outcome = await restart(context);
    if (input.flag("json")) context.json(startJson(outcome));
    else sayStart(context, outcome);
  },
};
