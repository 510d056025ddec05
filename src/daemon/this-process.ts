/** This process: its arguments, its lock and log, its start report, and its end. */
import { chmodSync, closeSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Owner } from "../base/async.ts";
import { cleanEnvironment, type AgentVariables } from "../base/clean-env.ts";
import { readCgroupFacts, scopePrefix, judgeCgroup, launchCgroupsRefused } from "../base/cgroup-risk.ts";
import { makePrivateDirectory, readJson } from "../base/durable-file.ts";
import { acquireLock, type Lock } from "../base/home-lock.ts";
import {
  defaultLaunchOptions,
  readLaunchOptions,
  type LaunchOptions,
  type StartReport,
} from "../base/launch-options.ts";
import { openLog, type LogFile } from "../base/log-file.ts";
import { resolvePaths, type Paths } from "../base/paths.ts";
import { rememberUmask } from "../base/program.ts";
import { HoldfastError, messageOf } from "../contract/errors.ts";

const foreground = process.argv.includes("--foreground");
/** Started by `stop --halt-sessions`: halts even if read-only. Later starts do not replay this option. */
export const mayHalt = process.argv.includes("--may-halt");

/** What every step of the start works with. */
export interface Start {
  /** The directory of the built program. */
  dist: string;
  paths: Paths;
  owner: Owner;
  log: LogFile;
  lock: Lock;
  options: LaunchOptions;
  startedAt: number;
  stop(why: string): Promise<never>;
}

/** Runs the daemon under the lock of its home; a failed start is reported to the starter. */
export async function startProcess(dist: string, umask: number, run: (start: Start) => Promise<void>): Promise<void> {
  rememberUmask(umask);
  const startedAt = Date.now();
  const paths = resolvePaths();
  const owner = new Owner();
  try {
    makePrivateDirectory(paths.home);
    chmodSync(paths.home, 0o700);
    const lock = acquireLock(paths.lock);
    if (lock === null) return report({ report: "already-running" });
    owner.owns("lock", () => lock.release());
    const log = openLog({ file: join(paths.logs, "daemon.log") });
    owner.owns("log", () => log.close());
    onCrash(log);
    const options = readOptions(paths, log);
    log.setLevel(options.logLevel);
    const stop = async (why: string): Promise<never> => {
      log.info("stopping", { why });
      await owner.close().catch((error: unknown) => console.error(error));
      return process.exit(0);
    };
    await run({ dist, paths, owner, log, lock, options, startedAt, stop });
  } catch (error) {
    // In this order: the reader of the report may start the next daemon immediately, and the home must be free then.
    await owner.close().catch(() => undefined);
    report(failure(error));
    // Without waiting for pending work: a lookup of a host name takes minutes if no server responds.
    process.exit(1);
  }
}

function readOptions(paths: Paths, log: LogFile): LaunchOptions {
  const read = readJson(paths.launchFile);
  const known = read.is === "known" ? readLaunchOptions(read.value) : null;
  if (known !== null) return known;
  if (read.is !== "absent") log.warn("could not read the options of the last start; using defaults", { ...read });
  return defaultLaunchOptions;
}

export function hasPassphrase(paths: Paths): boolean {
  try {
    return readFileSync(paths.passphrase, "utf8").trim() !== "";
  } catch {
    return false;
  }
}

/** The user's answer to whether the home was moved or copied, for this start alone. */
export function homeChoice(): "moved" | "copied" | null {
  if (process.argv.includes("--moved")) return "moved";
  return process.argv.includes("--copied") ? "copied" : null;
}

/** The environment of all agents, without our own variables. A project's passEnv adds variables for its own agents alone. */
export function baseEnvironment(agents: AgentVariables): Record<string, string> {
  const ours = /^HOLDFAST_(PASSPHRASE|MANAGED_BY|TEST_POINTS|TRACKER_.*)$/;
  return Object.fromEntries(Object.entries(cleanEnvironment(process.env, agents)).filter(([name]) => !ours.test(name)));
}

/** A unit that kills all of its processes when it stops must contain neither the agents' tmux server nor their cgroups. */
export function outsideOfUnit(): { serverPrefix: string[]; cgroupsRefused: string | null } {
  const risk = judgeCgroup(readCgroupFacts());
  return {
    serverPrefix: risk.risk === "none" ? [] : (scopePrefix() ?? []),
    cgroupsRefused: launchCgroupsRefused(risk),
  };
}

export function managedBy(): string | null {
  if (!foreground) return null;
  if (process.env["INVOCATION_ID"] !== undefined) return "systemd";
  return process.env["XPC_SERVICE_NAME"] === undefined || process.env["XPC_SERVICE_NAME"] === "0"
    ? "foreground"
    : "launchd";
}

/** Reports to the starter, then closes the pipe: the daemon must not depend on the starter. */
export function report(message: StartReport): void {
  if (foreground) {
    if (message.report === "ready")
      console.log([`Holdfast is running at ${message.url} (pid ${message.pid}).`, ...message.notes].join("\n"));
    else if (message.report === "failed")
      console.error(message.hint === null ? message.message : `${message.message}\n${message.hint}`);
    else console.error("Holdfast is already running for this home.");
    return;
  }
  try {
    writeSync(3, `${JSON.stringify(message)}\n`);
    closeSync(3);
  } catch {
    // No starter is waiting.
  }
}

function failure(error: unknown): StartReport {
  const known = error instanceof HoldfastError;
  return {
    report: "failed",
    code: known ? error.code : ((error as NodeJS.ErrnoException).code ?? "internal"),
    message: messageOf(error),
    hint: known ? error.hint : null,
  };
}

/** A crash has the effect of a stop: every agent keeps running. The log has the reason. */
function onCrash(log: LogFile): void {
  process.on("uncaughtException", (error) => {
    log.error("daemon crashed; agents keep running", { error });
    process.exit(70);
  });
  process.on("unhandledRejection", (error) => log.error("unhandled rejection", { error }));
}
