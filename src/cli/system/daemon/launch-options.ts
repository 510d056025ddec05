/** The daemon's options. Everything that can be refused is refused before anything runs. */
import { readFileSync } from "node:fs";
import { readJson, writeDurable } from "../../../base/durable-file.ts";
import {
  keepLaunch,
  proposeLaunch,
  takeBackLaunch,
  defaultLaunchOptions,
  type LaunchOptions,
  readLaunchOptions,
  isLevel,
  type Level,
  levels,
} from "../../../base/launch-options.ts";
import type { Paths } from "../../../base/paths.ts";
import { HoldfastError, messageOf } from "../../../contract/errors.ts";
import type { OptionEntry, Input } from "../../command.ts";
import { findDaemon } from "./find-daemon.ts";
import { bareHost, isLoopback } from "../../../base/addresses.ts";
import { type Reach, reachOptions, readReach } from "./reach.ts";
import {
  hashForMark,
  isSamePassphrase,
  type PassphraseMark,
  readPassphraseMark,
  weaknessOf,
} from "../../../base/passphrase.ts";

export const startOptions: readonly OptionEntry[] = [
  { long: "host", value: "address", description: `Address to listen on (default: ${defaultLaunchOptions.host})` },
  {
    long: "port",
    value: "number",
    description: `Port to listen on; 0 picks a free one (default: ${defaultLaunchOptions.port}, or a free one if taken)`,
  },
  {
    long: "auth",
    value: "mode",
    description: "Dashboard login method (default: passphrase if one is set or the host requires it, otherwise token)",
    choices: ["token", "passphrase"],
  },
  {
    long: "passphrase-file",
    value: "file",
    description: "File with the passphrase (or set HOLDFAST_PASSPHRASE)",
    completes: "file",
  },
  ...reachOptions,
  { long: "read-only", description: "Start in read-only mode: reject every write" },
  {
    long: "log-level",
    value: "level",
    description: "How much the daemon logs (default: HOLDFAST_LOG, or info)",
    choices: levels,
  },
  { long: "no-restore", description: "Do not restart sessions lost to a reboot or tmux crash" },
];

/** @param kept options of the last start; public addresses and TLS are kept until changed. */
export function readStartOptions(
  input: Input,
  env: NodeJS.ProcessEnv,
  { cwd = process.cwd(), kept = defaultLaunchOptions }: { cwd?: string; kept?: Reach } = {},
): LaunchOptions {
  const port = input.text("port");
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) {
    throw new HoldfastError("usage", `--port must be a number from 0 to 65535, not ${port}.`);
  }
  // An IPv6 address may be in brackets, as in a URL.
  const host = input
    .text("host")
    ?.replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
  if (host === "") throw new HoldfastError("usage", "--host must not be empty.");
  const passphraseGiven = input.text("passphrase-file") !== undefined || (env["HOLDFAST_PASSPHRASE"] ?? "") !== "";
  const beyond = host !== undefined && !isLoopback(bareHost(host));
  if (beyond && input.text("auth") === "token") {
    throw new HoldfastError("usage", `Listening on ${host}, beyond this machine, requires --auth passphrase.`, {
      hint: "Omit --auth, and set a passphrase with --passphrase-file <file> or HOLDFAST_PASSPHRASE.",
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

/** The level in HOLDFAST_LOG; it applies to automatic starts and restarts too. */
export function levelOf(env: NodeJS.ProcessEnv): Level | null {
  const named = env["HOLDFAST_LOG"] ?? "";
  if (named === "") return null;
  if (isLevel(named)) return named;
  throw new HoldfastError("usage", `HOLDFAST_LOG must be ${levels.join(", ")}, not ${named}.`);
}

/** The options of the last start, with the log level of the current environment. */
export function optionsToReplay({ paths, env }: { paths: Paths; env: NodeJS.ProcessEnv }): LaunchOptions {
  const last = lastLaunchOptions(paths);
  return { ...last, logLevel: levelOf(env) ?? last.logLevel };
}

/** The options of the last successful start; the defaults if there was none or the file is damaged. */
export function lastLaunchOptions(paths: Paths): LaunchOptions {
  const { daemon } = findDaemon(paths);
  if (daemon === "running") keepLaunch(paths.launchFile);
  // Its starter exited and it never became ready.
  if (daemon === "none") takeBackLaunch(paths.launchFile);
  const read = readJson(paths.launchFile);
  return (read.is === "known" ? readLaunchOptions(read.value) : null) ?? defaultLaunchOptions;
}

export interface PassphraseSources {
  file: string | undefined;
  env: NodeJS.ProcessEnv;
  paths: Paths;
}

/** A new passphrase, or null to use the stored one (or none). Throws if one is required and none is known. */
export function choosePassphrase(options: LaunchOptions, { file, env, paths }: PassphraseSources): string | null {
  const given = file === undefined ? env["HOLDFAST_PASSPHRASE"] : readPassphraseFile(file);
  if (given !== undefined && given !== "") return given;
  const beyond = !isLoopback(bareHost(options.host));
  if ((!beyond && options.auth === "token") || storedPassphrase(paths) !== null) return null;
  throw new HoldfastError(
    "preflight-failed",
    beyond
      ? `Listening on ${options.host}, beyond this machine, requires a passphrase. Nothing was started.`
      : "--auth passphrase requires a passphrase. Nothing was started.",
    { hint: "Set one with --passphrase-file <file> or HOLDFAST_PASSPHRASE." },
  );
}

function readPassphraseFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new HoldfastError("usage", `Cannot read the passphrase file: ${messageOf(error)}`, {
      hint: "Use a file that contains only the passphrase, or set HOLDFAST_PASSPHRASE.",
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

/** Written before the daemon starts, which reads it. Once it is ready, later starts reuse these options. */
export function rememberLaunch(paths: Paths, options: LaunchOptions, passphrase: string | null): void {
  if (passphrase !== null) writeDurable(paths.passphrase, `${passphrase}\n`, 0o600);
  proposeLaunch(paths.launchFile, `${JSON.stringify(options, null, 2)}\n`);
}

/** Checks a given passphrase: a new one must not be weak, the one in use may be. */
export function admitPassphrase(paths: Paths, given: string): PassphraseMark {
  const mark = readPassphraseMark(paths.passphraseMark);
  if (mark !== null && isSamePassphrase(given, mark.hash)) return mark;
  const stored = storedPassphrase(paths);
  const weak = weaknessOf(given);
  // Set by an older build that wrote no mark.
  const isOld = mark === null && stored !== null && isSamePassphrase(given, stored);
  if (weak !== null && !isOld) {
    throw new HoldfastError("usage", `The passphrase is too weak: ${weak}. Nothing was started.`, {
      hint: "Use four words, or 12 mixed characters. Generate one: holdfast passphrase --file <file>",
    });
  }
  return { hash: hashForMark(given), weak, replaced: !isOld && stored !== null };
}

export function rememberMark(paths: Paths, mark: PassphraseMark | null): void {
  if (mark !== null) writeDurable(paths.passphraseMark, `${JSON.stringify(mark)}\n`, 0o600);
}
