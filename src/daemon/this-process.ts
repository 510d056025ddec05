/** This process: what it was given, who waits for it, and what it says to them. */
import { closeSync, writeSync } from "node:fs";
import { readCgroupFacts, scopePrefix } from "../base/cgroup-facts.ts";
import { judgeCgroup } from "../base/cgroup-risk.ts";
import type { StartReport } from "../base/launch-options.ts";
import type { LogFile } from "../base/log-file.ts";
import { HoldfastError, messageOf } from "../protocol/error.ts";

const foreground = process.argv.includes("--foreground");

/** What agents inherit: what this process was given, less what is only ours. */
export function baseEnvironment(): Record<string, string> {
  const ours = /^HOLDFAST_(PASSPHRASE|MANAGED_BY|TEST_POINTS|TRACKER_.*)$/;
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !ours.test(entry[0]),
    ),
  );
}

/** A unit that ends all of its processes when it is stopped must not hold the agents' tmux server. */
export function scopeOfItsOwn(): string[] {
  return judgeCgroup(readCgroupFacts()).risk === "none" ? [] : (scopePrefix() ?? []);
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
    if (message.report === "ready") console.log(`Holdfast is running at ${message.url} (pid ${message.pid}).`);
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
