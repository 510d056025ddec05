import type { CommandEntry } from "../entry-types.ts";
import { readStartOptions, startOptions } from "../launch-plan.ts";
import { sayStart } from "../render/daemon.ts";

export const command: CommandEntry = {
  options: [...startOptions, { long: "foreground", description: "do not detach: for systemd, launchd and containers" }],
  examples: [
    ["start it, detached", "holdfast start"],
    ["on a free port", "holdfast start --port 0"],
    ["reachable from other machines", "holdfast start --host 0.0.0.0 --passphrase-file ~/.holdfast-passphrase"],
  ],
  notes:
    "Options that are not given take their defaults. `restart`, and any command that finds the daemon down,\nstart it as it was started last. Sessions that are still running are taken over.",
  daemon: "alone",
  async run(context, input) {
    const { start } = await import("../daemon-control.ts");
    const outcome = await start(context, {
      options: readStartOptions(input, context.env),
      passphraseFile: input.text("passphrase-file"),
      foreground: input.flag("foreground"),
    });
    sayStart(context, outcome);
  },
};
