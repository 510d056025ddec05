import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { LaunchOptions } from "../../../base/launch-options.ts";
import { writeDurable } from "../../../base/durable-file.ts";
import { namedVariables } from "../../../config/pass-env.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";
import type { Input } from "../../input.ts";
import {
  choosePassphrase,
  lastLaunchOptions,
  readStartOptions,
  startOptions,
} from "../../system/daemon/launch-options.ts";
import { admitPassphrase } from "../../system/daemon/passphrase.ts";
import { describeService, runAll, sayRan } from "../../system/service/service.ts";

export const command: CommandEntry = {
  options: [...startOptions, { long: "print", description: "only print the file" }, jsonOption],
  examples: [
    ["start at login, by systemd or launchd", "holdfast service install"],
    ["look at it first", "holdfast service install --print"],
  ],
  notes: "Stopping or restarting the service ends the daemon and nothing else: agents keep running.",
  daemon: "alone",
  async run(shown, input) {
    const json = input.flag("json");
    const context: Context = json ? { ...shown, out: () => undefined } : shown;
    const service = describeService(context, startArguments(context, input));
    const { manager, file, text } = service;
    if (input.flag("print")) {
      if (json) context.json({ manager, file, text });
      else context.out(text.trimEnd());
      return 0;
    }
    mkdirSync(dirname(service.file), { recursive: true });
    writeDurable(service.file, service.text, 0o644);
    context.out(`Wrote ${service.file}`);
    for (const line of service.advice) context.out(line);
    const { missingInService } = await import("../../doctor/environment.ts");
    const named = await namedVariables(context.paths);
    for (const line of missingInService(context.env, named, service.manager)) context.out(line);
    const found = findDaemon(context.paths);
    if (found.daemon !== "none" && !(found.daemon === "running" && found.file.managedBy === service.manager)) {
      context.out("Holdfast is running already. To hand it over to the service (sessions keep running):");
      context.out("  holdfast stop");
      const left = service.enable.map((line) => line.join(" "));
      for (const line of left) context.out(`  ${line}`);
      if (json) context.json({ manager, file, ran: [], left: ["holdfast stop", ...left] });
      return 0;
    }
    const done = runAll(service.enable);
    if (json) context.json({ manager, file, ran: done.ran, left: done.failed?.left ?? [] });
    else sayRan(context, done);
    return done.failed === null ? 0 : 1;
  },
};

/** What was asked for, as the service will pass it on; the same rules as for `start`. */
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

/** Those of the last start too: the service is the same daemon. */
function reachArguments({ publicUrls, tlsCert, tlsKey }: LaunchOptions): string[] {
  return [
    ...publicUrls.flatMap((url) => ["--public-url", url]),
    ...(tlsCert === null || tlsKey === null ? [] : ["--tls-cert", tlsCert, "--tls-key", tlsKey]),
  ];
}
