import { HoldfastError } from "../../../contract/errors.ts";
import { type CommandEntry } from "../../command.ts";
import { printStart } from "../../render/daemon.ts";
import * as control from "../../system/daemon/control.ts";
import { lastLaunchOptions, readStartOptions, startOptions } from "../../system/daemon/launch-options.ts";

export const start: CommandEntry = {
  options: [
    ...startOptions,
    { long: "foreground", description: "Do not detach: for systemd, launchd and containers" },
    { long: "moved", description: "Accept that the home was moved here; its agents stay its own" },
    { long: "copied", description: "Make a copied home independent; its sessions stay with the original" },
  ],
  examples: [
    ["start it, detached", "holdfast start"],
    ["use a free port", "holdfast start --port 0"],
    ["start after moving the home", "HOLDFAST_HOME=/new/place holdfast start --moved"],
    ["log everything, to debug a problem", "holdfast start --log-level debug"],
    [
      "serve behind a TLS proxy or Tailscale Serve",
      "holdfast start --public-url https://box.example --passphrase-file ~/.holdfast-passphrase",
    ],
    ["serve through ssh -L 8080:localhost:4710 box", "holdfast start --public-url http://localhost:8080"],
    [
      "serve other machines with TLS",
      "holdfast start --host 0.0.0.0 --tls-cert fullchain.pem --tls-key privkey.pem --passphrase-file ~/.holdfast-passphrase",
    ],
  ],
  notes:
    "Omitted options use their defaults; --public-url, --tls-cert and --tls-key are kept until changed. restart, and any\ncommand that starts the daemon, reuses the options of the last start. Running sessions are adopted.",
  daemon: "alone",
  async run(context, input) {
    if (input.flag("moved") && input.flag("copied")) {
      throw new HoldfastError("usage", "Use either --moved or --copied.");
    }
    const outcome = await control.start(context, {
      options: readStartOptions(input, context.env, { cwd: context.cwd, kept: lastLaunchOptions(context.paths) }),
      passphraseFile: input.text("passphrase-file"),
      foreground: input.flag("foreground"),
      home: input.flag("moved") ? "moved" : input.flag("copied") ? "copied" : null,
    });
    printStart(context, outcome, input.flag("json"));
  },
};

export const restart: CommandEntry = {
  examples: [["restart the daemon, e.g. after an update", "holdfast restart"]],
  notes:
    "Reuses the host, port, mode and authentication of the last start. Sessions keep running. Leaves a foreground or\nservice-managed daemon to its manager.",
  daemon: "alone",
  async run(context, input) {
    const outcome = await control.restart(context);
    printStart(context, outcome, input.flag("json"));
  },
};
