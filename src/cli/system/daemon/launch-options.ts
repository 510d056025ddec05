/** With which options the daemon starts, and whether it may: what can be refused is refused before anything runs. */
import { readFileSync } from "node:fs";
import { readJson, writeDurable } from "../../../base/durable-file.ts";
import { keepLaunch, proposeLaunch, takeBackLaunch } from "../../../base/launch-options.ts";
import { defaultLaunchOptions, type LaunchOptions, readLaunchOptions } from "../../../base/launch-options.ts";
import { isLevel, type Level, levels } from "../../../base/launch-options.ts";
import type { Paths } from "../../../base/paths.ts";
import { HoldfastError, messageOf } from "../../../contract/error.ts";
import type { OptionEntry } from "../../command.ts";
import { findDaemon } from "./find-daemon.ts";
import type { Input } from "../../input.ts";
import { bareHost, isLoopback } from "../../../base/addresses.ts";
import { type Reach, reachOptions, readReach } from "./reach.ts";

export const startOptions: readonly OptionEntry[] = [
  { long: "host", value: "address", description: `address to listen on (default ${defaultLaunchOptions.host})` },
  {
    long: "port",
    value: "number",
    description: `port to listen on; 0 picks a free one (default ${defaultLaunchOptions.port}, or a free one if taken)`,
  },
  {
    long: "auth",
    value: "mode",
    description: "how the dashboard logs in (default token; passphrase where one is given or the host needs it)",
    choices: ["token", "passphrase"],
  },
  {
    long: "passphrase-file",
    value: "file",
    description: "file with the passphrase (or set HOLDFAST_PASSPHRASE)",
    completes: "file",
  },
  ...reachOptions,
  { long: "read-only", description: "show everything, change nothing" },
  {
    long: "log-level",
    value: "level",
    description: "how much the daemon logs (default info, or what HOLDFAST_LOG names)",
    choices: levels,
  },
  { long: "no-restore", description: "leave down what a reboot or a lost tmux server took" },
];

/** @param kept of the last start; public addresses and TLS stay until they are changed. */
export function readStartOptions(
  input: Input,
  env: NodeJS.ProcessEnv,
  { cwd = process.cwd(), kept = defaultLaunchOptions }: { cwd?: string; kept?: Reach } = {},
): LaunchOptions {
  const port = input.text("port");
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) {
    throw new HoldfastError("usage", `--port must be a number from 0 to 65535, not ${port}.`);
  }
  // An IPv6 address may stand in brackets, as in an address line.
  const host = input
    .text("host")
    ?.replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
  if (host === "") throw new HoldfastError("usage", "--host must not be empty.");
  const passphraseGiven = input.text("passphrase-file") !== undefined || (env["HOLDFAST_PASSPHRASE"] ?? "") !== "";
  const beyond = host !== undefined && !isLoopback(bareHost(host));
  if (beyond && input.text("auth") === "token") {
    throw new HoldfastError("usage", `Listening on ${host}, beyond this machine, needs --auth passphrase.`, {
      hint: "Leave --auth out, and give a passphrase with --passphrase-file <file> or in HOLDFAST_PASSPHRASE.",
    });
  }
  return {
    host: host ?? defaultLaunchOptions.host,
    port: port === undefined ? defaultLaunchOptions.port : Number(port),
    portGiven: port !== undefined,
    auth:
      (input.text("auth") as LaunchOptions["auth"] | undefined) ?? (passphraseGiven || beyond ? "passphrase" : "token"),
    readOnly: input.flag("read-only"),
    restore: !input.flag("no-restore"),
    logLevel: (input.text("log-level") as Level | undefined) ?? levelOf(env) ?? defaultLaunchOptions.logLevel,
    ...readReach(input, cwd, kept),
  };
}

/** What HOLDFAST_LOG asks for: also of a daemon that another command starts, or that is restarted. */
export function levelOf(env: NodeJS.ProcessEnv): Level | null {
  const named = env["HOLDFAST_LOG"] ?? "";
  if (named === "") return null;
  if (isLevel(named)) return named;
  throw new HoldfastError("usage", `HOLDFAST_LOG must be ${levels.join(", ")}, not ${named}.`);
}

/** The options of the last start, with what the environment asks for now. */
export function optionsToReplay({ paths, env }: { paths: Paths; env: NodeJS.ProcessEnv }): LaunchOptions {
  const last = lastLaunchOptions(paths);
  return { ...last, logLevel: levelOf(env) ?? last.logLevel };
}

/** The options of the last start that worked; the defaults where there was none or the file is damaged. */
export function lastLaunchOptions(paths: Paths): LaunchOptions {
  const { daemon } = findDaemon(paths);
  if (daemon === "running") keepLaunch(paths.launchFile);
  // Its starter went away and it never became ready.
  if (daemon === "none") takeBackLaunch(paths.launchFile);
  const read = readJson(paths.launchFile);
  return (read.is === "known" ? readLaunchOptions(read.value) : null) ?? defaultLaunchOptions;
}

export interface PassphraseSources {
  file: string | undefined;
  env: NodeJS.ProcessEnv;
  paths: Paths;
}

/** A newly given passphrase, null when the stored one (or none) is to be used. Refuses where one is needed and none is known. */
export function choosePassphrase(options: LaunchOptions, { file, env, paths }: PassphraseSources): string | null {
  const given = file === undefined ? env["HOLDFAST_PASSPHRASE"] : readPassphraseFile(file);
  if (given !== undefined && given !== "") return given;
  const beyond = !isLoopback(bareHost(options.host));
  if ((!beyond && options.auth === "token") || storedPassphrase(paths) !== null) return null;
  throw new HoldfastError(
    "preflight-failed",
    beyond
      ? `Listening on ${options.host}, beyond this machine, needs a passphrase. Nothing was started.`
      : "--auth passphrase needs a passphrase. Nothing was started.",
    { hint: "Give one with --passphrase-file <file> or in HOLDFAST_PASSPHRASE." },
  );
}

function readPassphraseFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new HoldfastError("usage", `The passphrase file cannot be read: ${messageOf(error)}`, {
      hint: "Give the path of a file that holds the passphrase alone, or set HOLDFAST_PASSPHRASE.",
      cause: error,
    });
  }
  if (text.trim() === "") throw new HoldfastError("usage", `The passphrase file ${file} is empty.`);
  return text;
}

export function storedPassphrase(paths: Paths): string | null {
  try {
    const text = readFileSync(paths.passphrase, "utf8").replace(/\r?\n$/, "");
    return text === "" ? null : text;
  } catch {
    return null;
  }
}

/** On disk before the daemon is, which reads it; once it is ready, a later start by whatever command replays this one. */
export function rememberLaunch(paths: Paths, options: LaunchOptions, passphrase: string | null): void {
  if (passphrase !== null) writeDurable(paths.passphrase, `${passphrase}\n`, 0o600);
  proposeLaunch(paths.launchFile, `${JSON.stringify(options, null, 2)}\n`);
}
