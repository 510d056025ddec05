import { HoldfastError } from "../../../contract/error.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { lastLaunchOptions, readStartOptions, startOptions } from "../../system/daemon/launch-options.ts";
import { sayStart, startJson } from "../../render/daemon.ts";

export const command: CommandEntry = {
  options: [
    ...startOptions,
    { long: "foreground", description: "do not detach: for systemd, launchd and containers" },
    { long: "moved", description: "Accept that the home was moved here; its agents stay its own" },
    { long: "copied", description: "Make a copied home independent; its sessions stay with the original" },
    jsonOption,
  ],
  examples: [
    ["start it, detached", "holdfast start"],
    ["on a free port", "holdfast start --port 0"],
    ["after moving the home", "HOLDFAST_HOME=/new/place holdfast start --moved"],
    ["with everything in its log, to look into a problem", "holdfast start --log-level debug"],
    [
      "behind a TLS proxy or Tailscale Serve",
      "holdfast start --public-url https://box.example --passphrase-file ~/.holdfast-passphrase",
    ],
    ["through ssh -L 8080:localhost:4710 box", "holdfast start --public-url http://localhost:8080"],
    [
      "with TLS, for other machines",
      "holdfast start --host 0.0.0.0 --tls-cert fullchain.pem --tls-key privkey.pem --passphrase-file ~/.holdfast-passphrase",
    ],
  ],
  notes:
    "Options that are not given take their defaults; --public-url, --tls-cert and --tls-key stay until changed.\n`restart`, and any command that finds the daemon down, start it as it was started last. Sessions that are still running are taken over.",
  daemon: "alone",
  async run(context, input) {
    const { start } = await import("../../system/daemon/control.ts");
    if (input.flag("moved") && input.flag("copied")) {
      throw new HoldfastError("usage", "--moved and --copied exclude each other.");
    }
    const outcome = await start(context, {
      options: readStartOptions(input, context.env, { cwd: context.cwd, kept: lastLaunchOptions(context.paths) }),
      passphraseFile: input.text("passphrase-file"),
      foreground: input.flag("foreground"),
      home: input.flag("moved") ? "moved" : input.flag("copied") ? "copied" : null,
    });
    if (input.flag("json")) context.json(startJson(outcome));
    else sayStart(context, outcome);
  },
};
