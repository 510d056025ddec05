/** This process: what it was given, who waits for it, and what it says to them. */
import { closeSync, writeSync } from "node:fs";
import { cleanEnvironment, type AgentVariables } from "../base/clean-env.ts";
import { readCgroupFacts, scopePrefix, judgeCgroup, launchCgroupsRefused } from "../base/cgroup-risk.ts";
import type { StartReport } from "../base/launch-options.ts";
import type { LogFile } from "../base/log-file.ts";
import { HoldfastError, messageOf } from "../contract/error.ts";

const foreground = process.argv.includes("--foreground");
/** Started by `stop --halt-sessions`: it halts even where it is read-only. Not among the options that a later start replays. */
export const mayHalt = process.argv.includes("--may-halt");

/** What the user answered to the question whether the home was moved or copied: for this start alone. */
export function homeAnswer(): "moved" | "copied" | null {
  if (process.argv.includes("--moved")) return "moved";
  return process.argv.includes("--copied") ? "copied" : null;
}

/** What all agents inherit, less what is only ours. What a project's passEnv names is added for its own agents alone. */
export function baseEnvironment(agents: AgentVariables): Record<string, string> {
  const ours = /^HOLDFAST_(PASSPHRASE|MANAGED_BY|TEST_POINTS|TRACKER_.*)$/;
  return Object.fromEntries(Object.entries(cleanEnvironment(process.env, agents)).filter(([name]) => !ours.test(name)));
}

/** A unit that ends all of its processes when it is stopped must hold neither the agents' tmux server nor their cgroups. */
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

/** Tells whoever waits, then lets go of the pipe: nothing of ours depends on the starter living on. */
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
    // Nobody waits.
  }
}

export function failure(error: unknown): StartReport {
  const known = error instanceof HoldfastError;
  return {
    report: "failed",
    code: known ? error.code : ((error as NodeJS.ErrnoException).code ?? "internal"),
    message: messageOf(error),
    hint: known ? error.hint : null,
  };
}

/** A crash means the same as a stop: every agent keeps running. The next start finds the reason in the log. */
export function onCrash(log: LogFile): void {
  process.on("uncaughtException", (error) => {
    log.error("the daemon crashed; agents keep running", { error });
    process.exit(70);
  });
  process.on("unhandledRejection", (error) => log.error("a failure nobody handled", { error }));
}
