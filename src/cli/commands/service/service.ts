/** Installs and removes the service that starts the daemon at login. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { writeDurable } from "../../../base/durable-file.ts";
import type { LaunchOptions } from "../../../base/launch-options.ts";
import { namedVariables } from "../../../config/pass-env.ts";
import { quoteShellWord } from "../../../model/text.ts";
import { type CommandEntry, type Input } from "../../command.ts";
import type { Context } from "../../context.ts";
import { missingInService } from "../../doctor/environment.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";
import {
  admitPassphrase,
  choosePassphrase,
  lastLaunchOptions,
  readStartOptions,
  startOptions,
} from "../../system/daemon/launch-options.ts";
import { describeService, runAll, printRan } from "../../system/service/service.ts";

export const install: CommandEntry = {
  options: [...startOptions, { long: "print", description: "Only print the unit file" }],
  examples: [
    ["start at login, by systemd or launchd", "holdfast service install"],
    ["preview the unit file", "holdfast service install --print"],
  ],
  notes: "Stopping or restarting the service stops only the daemon: agents keep running.",
  daemon: "alone",
  async run(context, input) {
    const service = describeService(context, startArguments(context, input));
    const { manager, file, text } = service;
    if (input.flag("print")) {
      context.print({ manager, file, text }, text.trimEnd());
      return 0;
    }
    mkdirSync(dirname(service.file), { recursive: true });
    writeDurable(service.file, service.text, 0o644);
    context.out(`Wrote ${service.file}`);
    for (const line of service.advice) context.out(line);
    const named = await namedVariables(context.paths);
    for (const line of missingInService(context.env, named, service.manager)) context.out(line);
    const found = findDaemon(context.paths);
    if (found.daemon !== "none" && !(found.daemon === "running" && found.file.managedBy === service.manager)) {
      context.out("Holdfast is already running. To move it to the service (sessions keep running):");
      context.out("  holdfast stop");
      const left = service.enable.map((line) => line.join(" "));
      for (const line of left) context.out(`  ${line}`);
      context.print({ manager, file, ran: [], left: ["holdfast stop", ...left] }, null);
      return 0;
    }
    const done = runAll(service.enable);
    context.print({ manager, file, ran: done.ran, left: done.failed?.left ?? [] }, null);
    if (!input.flag("json")) printRan(context, done);
    return done.failed === null ? 0 : 1;
  },
};

/** The options for `start` in the unit file, read by the same rules as those of `start`. */
function startArguments(context: Context, input: Input): string[] {
  const file = input.text("passphrase-file");
  const options = readStartOptions(input, {}, { cwd: context.cwd, kept: lastLaunchOptions(context.paths) });
  const given = choosePassphrase(options, { file, env: {}, paths: context.paths });
  if (given !== null) admitPassphrase(context.paths, given);
  const typed = startOptions.flatMap(({ long, value, many }) => {
    if (value === undefined) return input.flag(long) ? [`--${long}`] : [];
    const text = input.text(long);
    if (many === true || text === undefined || long.startsWith("tls-")) return [];
    return [`--${long}`, long === "passphrase-file" ? resolve(context.cwd, text) : text];
  });
  return [...typed, ...reachArguments(options)];
}

/** Includes those of the last start: the service runs the same daemon. */
function reachArguments({ publicUrls, tlsCert, tlsKey }: LaunchOptions): string[] {
  return [
    ...publicUrls.flatMap((url) => ["--public-url", url]),
    ...(tlsCert === null || tlsKey === null ? [] : ["--tls-cert", tlsCert, "--tls-key", tlsKey]),
  ];
}

export const uninstall: CommandEntry = {
  options: [{ long: "print", description: "Only print the steps" }],
  examples: [["stop starting at login", "holdfast service uninstall"]],
  notes: "Stops the daemon if the service runs it. Sessions keep running; nothing else is removed.",
  daemon: "alone",
  async run(context, input) {
    const { manager, file, disable } = describeService(context, []);
    if (!existsSync(file)) {
      context.print({ manager, file, removed: false, ran: [], note: null }, "No service is installed.");
      return 0;
    }
    if (input.flag("print")) {
      const lines = [...disable.map((line) => line.join(" ")), `rm ${quoteShellWord(file)}`];
      context.print({ manager, file, removed: false, ran: [], left: lines, note: null }, lines);
      return 0;
    }
    const { ran, failed } = runAll(disable);
    rmSync(file);
    for (const line of ran) context.out(`Ran: ${line}`);
    context.out(`Removed ${file}`);
    // Without a bus (a container, a bare ssh session) there is no manager that could still run it.
    const note = failed === null ? null : `${manager} could not stop it (${failed.why}); the file is removed.`;
    context.print({ manager, file, removed: true, ran, note }, note);
    return 0;
  },
};
