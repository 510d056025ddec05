import type { CommandEntry } from "../entry-types.ts";
import { sayStart } from "../render/daemon.ts";

export const command: CommandEntry = {
  examples: [["replace the daemon, for example after an update", "holdfast restart"]],
  notes:
    "Replays the host, port, mode and authentication that it was started with. Sessions keep running. A daemon that\nruns in the foreground or under a service manager is left to it.",
  daemon: "alone",
  async run(context) {
    const { restart } = await import("../daemon-control.ts");
    sayStart(context, await restart(context));
  },
};
