import { dirname } from "node:path";
import { build, version } from "../../../base/program.ts";
import type { DaemonFile } from "../../../base/launch-options.ts";
import { HoldfastError } from "../../../contract/error.ts";
import { askYesNo } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { managedElsewhere } from "../../system/daemon/control.ts";
import { type CommandEntry, jsonOption, yesOption } from "../../command.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";
import { clean } from "../../render/text.ts";
import {
  install,
  installArguments,
  type Installed,
  launcherOf,
  lookUp,
  requireNpm,
  run as runProgram,
  specOf,
  verifyInstalled,
} from "../../system/update/npm.ts";
import { type NpmPlace, readPlace, requireNpmPlace } from "../../system/update/installation.ts";

export const command: CommandEntry = {
  options: [
    { ...yesOption, description: "Restart the daemon without asking" },
    {
      long: "from",
      value: "what",
      description: "Tarball or version to install (default: the latest version)",
      completes: "file",
    },
    jsonOption,
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
    const json = input.flag("json");
    // What is printed on the way is for people; nothing can be asked where JSON is wanted.
    const context: Context = json ? { ...shown, out: () => undefined, isTerminal: () => false } : shown;
    const place = requireNpmPlace(readPlace(dirname(context.dist)));
    const updated = await update(context, place, input.text("from"));
    const code = await offerRestart(context, place, updated, input.flag("yes"));
    if (json) {
      const found = findDaemon(context.paths);
      const daemon = found.daemon === "running" ? { pid: found.file.pid, build: found.file.build } : null;
      context.json({ from: version, version: updated.version, build: updated.build, daemon });
    }
    return code;
  },
};

async function update(context: Context, place: NpmPlace, from: string | undefined): Promise<Installed> {
  const npm = requireNpm(context.env);
  const spec = specOf(place, from, context.cwd);
  // Where Holdfast was started from may be gone, or be a project that npm would take for the place to install in.
  const surroundings = { env: context.env, cwd: place.prefix };
  const wanted = await lookUp(npm, spec, surroundings);
  if (wanted.name !== place.name) {
    throw new HoldfastError(
      "invalid",
      `${spec.text} is ${clean(wanted.name)}, not ${place.name}; nothing was changed.`,
    );
  }
  if (wanted.version === version && !spec.tarball) {
    context.out(`Holdfast ${version} is up to date.`);
    return { version, build };
  }
  context.out(`Updating Holdfast ${version} to ${clean(wanted.version)} in ${place.root}`);
  // npm takes this program's files away: what is needed from here on must be loaded before.
  await import("../../errors.ts");
  await install(npm, installArguments(place, spec), surroundings);
  const installed = await verifyInstalled(place, wanted.version, { ...surroundings, before: version });
  context.out(`Holdfast ${installed.version} is installed.`);
  return installed;
}

/** A daemon of another build is still the old one, also where somebody else has updated the package before. */
export async function offerRestart(
  context: Context,
  place: NpmPlace,
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
  if (!yes && !(await isWanted(context, file))) {
    context.out("Restart it when it suits you: holdfast restart. Sessions keep running meanwhile, and through it.");
    return;
  }
  // By the new program, which brings its own build along.
  const ran = await runProgram(launcherOf(place), ["restart"], { env: context.env, cwd: context.cwd });
  if (ran.stdout.trim() !== "") context.out(ran.stdout.trimEnd());
  if (ran.stderr.trim() !== "") context.err(ran.stderr.trimEnd());
  return ran.code === 0 ? 0 : 1;
}

async function isWanted(context: Context, file: DaemonFile): Promise<boolean> {
  const still = `The daemon (pid ${file.pid}) still runs ${file.version}.`;
  if (context.isTerminal(0)) return askYesNo(`${still} Restart it now? Sessions keep running.`);
  context.out(still);
  return false;
}
