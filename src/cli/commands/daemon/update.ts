import { dirname } from "node:path";
import { build, version } from "../../../base/program.ts";
import type { DaemonFile } from "../../../base/launch-options.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { askYesNo } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { managedElsewhere } from "../../system/daemon/control.ts";
import { type CommandEntry, yesOption } from "../../command.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";
import { clean } from "../../render/text.ts";
import {
  install,
  installArguments,
  type Installed,
  launcherOf,
  resolveSpec,
  requireNpm,
  run as runProgram,
  specOf,
  verifyInstalled,
} from "../../system/update/npm.ts";
import { type NpmInstallation, readInstallation, requireNpmInstallation } from "../../system/update/installation.ts";

export const command: CommandEntry = {
  options: [
    { ...yesOption, description: "Restart the daemon without asking" },
    {
      long: "from",
      value: "what",
      description: "Tarball or version to install (default: the latest version)",
      completes: "file",
    },
  ],
  examples: [
    ["update to the latest version; asks before restarting", "holdfast update"],
    ["update and restart without asking", "holdfast update -y"],
    ["install a specific version", "holdfast update --from 0.1.0"],
    ["install a tarball made by npm pack", "holdfast update --from ./holdfast-0.2.0.tgz"],
  ],
  notes:
    "Updates an npm installation in place. Sessions keep running, including their current turns. The daemon runs from its\nown copy until you restart it; the new daemon then adopts every session.",
  daemon: "alone",
  async run(shown, input) {
    // With --json nothing is asked.
    const context: Context = input.flag("json") ? { ...shown, isTerminal: () => false } : shown;
    const installation = requireNpmInstallation(readInstallation(dirname(context.dist)));
    const updated = await update(context, installation, input.text("from"));
    const code = await offerRestart(context, installation, updated, input.flag("yes"));
    const found = findDaemon(context.paths);
    const daemon = found.daemon === "running" ? { pid: found.file.pid, build: found.file.build } : null;
    context.print({ from: version, version: updated.version, build: updated.build, daemon }, null);
    return code;
  },
};

async function update(context: Context, installation: NpmInstallation, from: string | undefined): Promise<Installed> {
  const npm = requireNpm(context.env);
  const spec = specOf(installation, from, context.cwd);
  // The working directory may no longer exist, or be a project that npm would install into.
  const runContext = { env: context.env, cwd: installation.prefix };
  const found = await resolveSpec(npm, spec, runContext);
  if (found.name !== installation.name) {
    throw new HoldfastError(
      "invalid",
      `${spec.text} is ${clean(found.name)}, not ${installation.name}; nothing was changed.`,
    );
  }
  if (found.version === version && !spec.tarball) {
    context.out(`Holdfast ${version} is up to date.`);
    return { version, build };
  }
  context.out(`Updating Holdfast ${version} to ${clean(found.version)} in ${installation.root}`);
  // npm removes this program's files: code needed from here on must be loaded before.
  await import("../../errors.ts");
  await install(npm, installArguments(installation, spec), runContext);
  const installed = await verifyInstalled(installation, found.version, { ...runContext, before: version });
  context.out(`Holdfast ${installed.version} is installed.`);
  return installed;
}

/** Offers a restart if the daemon runs another build than the installed one. */
export async function offerRestart(
  context: Context,
  installation: NpmInstallation,
  installed: Installed,
  yes: boolean,
): Promise<number | void> {
  const found = findDaemon(context.paths);
  if (found.daemon !== "running" || found.file.build === installed.build) return;
  const { file } = found;
  if (file.managedBy !== null) {
    const { message, hint } = managedElsewhere(context, file);
    context.out(`${message} It still runs ${file.version}.${hint === null ? "" : ` ${hint}`}`);
    return;
  }
  if (!yes && !(await confirmRestart(context, file))) {
    context.out("When you are ready, run holdfast restart. Sessions keep running.");
    return;
  }
  // Run by the new program, which contains the new build.
  const ran = await runProgram(launcherOf(installation), ["restart"], { env: context.env, cwd: context.cwd });
  if (ran.stdout.trim() !== "") context.out(ran.stdout.trimEnd());
  if (ran.stderr.trim() !== "") context.err(ran.stderr.trimEnd());
  return ran.code === 0 ? 0 : 1;
}

async function confirmRestart(context: Context, file: DaemonFile): Promise<boolean> {
  const still = `The daemon (pid ${file.pid}) still runs ${file.version}.`;
  if (context.isTerminal(0)) return askYesNo(`${still} Restart it now? Sessions keep running.`);
  context.out(still);
  return false;
}
