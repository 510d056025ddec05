/**
 * Starts the daemon detached: its own process session, one pipe for a single report, its own directory, a clean
 * environment. Everything it needs is in the home; it reads its options from the launch file.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { agentVariables } from "../../../agents/registry.ts";
import { bounded } from "../../../base/async.ts";
import { cleanEnvironment } from "../../../base/clean-env.ts";
import { makePrivateDirectory, writeAtomically } from "../../../base/durable-file.ts";
import type { StartReport } from "../../../base/launch-options.ts";
import type { Paths } from "../../../base/paths.ts";
import { identify } from "../../../base/pid.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { judgeCgroup, readCgroupFacts, scopePrefix } from "../../../base/cgroup-risk.ts";
import { clearStarting, findDaemon, startingFile } from "./find-daemon.ts";

export interface Started {
  url: string;
  pid: number;
  /** For the user: the daemon's notes about its start, and remaining risks. */
  notes: string[];
  /** False if another starter was faster. */
  ours: boolean;
}

export type HomeChoice = "moved" | "copied" | null;

export interface StartSurroundings {
  paths: Paths;
  env: NodeJS.ProcessEnv;
  /** The user's choice for a home that was moved or copied; for this start only. */
  home?: HomeChoice;
  /** Additional variables that the user's configuration names. */
  names: readonly string[];
  /** Called while the start takes long. */
  progress: (text: string) => void;
  /** It is started to halt the sessions. */
  mayHalt?: boolean;
}

const progressAfterMs = 2_000;
/** A first start after an unclean shutdown may have much to check; the daemon keeps starting after this deadline. */
const readyDeadlineMs = 120_000;
const pollMs = 25;
/** A stop takes less than a second; after that, a daemon that holds the home without starting is checked again. */
const settleMs = 1_000;
const exitWaitMs = 1_000;
/** Output of a daemon that crashes early; its own log is rotated separately. */
const rawOutputMaxBytes = 1024 * 1024;

export function prepareHome(paths: Paths): void {
  makePrivateDirectory(paths.home);
  chmodSync(paths.home, 0o700);
  for (const directory of [paths.logs, paths.run, paths.builds]) mkdirSync(directory, { recursive: true, mode: 0o700 });
}

export async function startDaemon(bundle: string, surroundings: StartSurroundings): Promise<Started> {
  const { paths, progress } = surroundings;
  const deadline = Date.now() + readyDeadlineMs;
  const slow = setInterval(() => progress("Still starting. See `holdfast logs` for progress."), progressAfterMs);
  try {
    for (;;) {
      const started = await launchOnce(bundle, surroundings);
      if (started !== null) return started;
      // The daemon that holds the home is starting; or it is exiting, and then ours can start.
      const other = await waitForOther(paths, deadline);
      if (other !== null) return { ...other, notes: [], ours: false };
    }
  } finally {
    clearInterval(slow);
  }
}

/** Null if another daemon holds this home. */
async function launchOnce(
  bundle: string,
  { paths, env, home, names, mayHalt = false }: StartSurroundings,
): Promise<Started | null> {
  const risk = judgeCgroup(readCgroupFacts());
  const prefix = risk.risk === "none" ? null : scopePrefix();
  const flags = [...choiceArguments(home), ...(mayHalt ? ["--may-halt"] : [])];
  const child = launch(
    [...(prefix ?? []), process.execPath, bundle, ...flags],
    paths,
    cleanEnvironment(env, agentVariables, names),
  );
  const note = noteStarting(paths, child);
  try {
    const report = await readReport(child);
    if (report?.report === "already-running") return null;
    if (report?.report === "failed") {
      throw new HoldfastError("launch-failed", report.message, report.hint === null ? {} : { hint: report.hint });
    }
    if (report === null && prefix === null) throw await crashed(paths, child);
    const { url, pid } = report ?? (await waitUntilRunning(paths));
    // The scope is ours, but it ends with the user's service manager: judge where the daemon is now.
    const left = prefix === null ? risk : judgeCgroup(readCgroupFacts(pid));
    const warnings =
      left.risk === "none" ? [] : [`Warning: ${left.sentence}`, ...(left.fix === null ? [] : [left.fix])];
    return { url, pid, notes: [...(report?.notes ?? []), ...warnings], ours: true };
  } finally {
    rmSync(note, { force: true });
    child.unref();
  }
}

function choiceArguments(choice: HomeChoice | undefined): string[] {
  return choice === undefined || choice === null ? [] : [`--${choice}`];
}

function launch([command, ...args]: string[], paths: Paths, env: Record<string, string>): ChildProcess {
  const log = openRawOutput(paths);
  try {
    return spawn(command!, args, {
      cwd: paths.home,
      env,
      detached: true,
      stdio: ["ignore", log, log, "pipe"],
    });
  } finally {
    closeSync(log);
  }
}

function rawOutput(paths: Paths): string {
  return join(paths.logs, "daemon.out");
}

function openRawOutput(paths: Paths): number {
  const path = rawOutput(paths);
  const tooLong = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > rawOutputMaxBytes;
  return openSync(path, tooLong ? "w" : "a", 0o600);
}

/** Lets `info` and `stop` see a daemon that does not respond yet. */
function noteStarting(paths: Paths, child: ChildProcess): string {
  clearStarting(paths);
  const pid = child.pid ?? 0;
  const path = startingFile(paths, pid);
  const identity = pid === 0 ? null : identify(pid);
  if (identity !== null) writeAtomically(path, JSON.stringify(identity));
  return path;
}

/** The report, or null if the pipe closed without one. */
async function readReport(child: ChildProcess): Promise<StartReport | null> {
  const pipe = child.stdio[3] as Readable;
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  try {
    // The daemon closes the pipe right after its report.
    const report = await bounded(Promise.race([text(pipe), failed]), readyDeadlineMs);
    if (report !== "too-late") return parseReport(report);
    const message = `The daemon (pid ${child.pid}) is not ready after ${readyDeadlineMs / 1000} s.`;
    throw new HoldfastError("starting", message, {
      hint: "It is still starting; see `holdfast logs` and `holdfast info`.",
    });
  } finally {
    pipe.destroy();
  }
}

export function parseReport(text: string): StartReport | null {
  try {
    const value = JSON.parse(text.trim().split("\n")[0] ?? "") as StartReport;
    return ["ready", "already-running", "failed"].includes(value.report) ? value : null;
  } catch {
    return null;
  }
}

async function crashed(paths: Paths, child: ChildProcess): Promise<HoldfastError> {
  // The pipe closes a moment before the process exits.
  if (child.exitCode === null && child.signalCode === null) await bounded(once(child, "exit"), exitWaitMs);
  const lines = readFileSync(rawOutput(paths), "utf8").split("\n");
  const last = lines.filter((line) => line.trim() !== "").slice(-8);
  const how = child.signalCode === null ? `exit code ${child.exitCode ?? "unknown"}` : child.signalCode;
  return new HoldfastError("launch-failed", [`The daemon exited before it was ready (${how}).`, ...last].join("\n"), {
    hint: `Its output is in ${rawOutput(paths)}.`,
  });
}

/** Waits for another daemon that is starting; null if it exited before it was ready. */
export async function waitForOther(
  paths: Paths,
  deadline = Date.now() + readyDeadlineMs,
): Promise<{ url: string; pid: number } | null> {
  const other = await untilRunning(paths, () => Date.now() < deadline && findDaemon(paths).daemon === "starting");
  if (other === null && Date.now() >= deadline) throw notReadyYet();
  return other;
}

/** A scope does not pass on the pipe; the daemon's file shows when it is ready. */
async function waitUntilRunning(paths: Paths): Promise<{ url: string; pid: number }> {
  const deadline = Date.now() + readyDeadlineMs;
  const running = await untilRunning(paths, () => Date.now() < deadline);
  if (running === null) throw notReadyYet();
  return running;
}

/** Null if it is not running a moment after `mayWait` turned false. */
async function untilRunning(paths: Paths, mayWait: () => boolean): Promise<{ url: string; pid: number } | null> {
  let until = Date.now() + settleMs;
  while (Date.now() < until) {
    const found = findDaemon(paths);
    if (found.daemon === "running") return found.file;
    if (mayWait()) until = Date.now() + settleMs;
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
  return null;
}

function notReadyYet(): HoldfastError {
  return new HoldfastError("starting", "Another Holdfast is starting for this home, but it is not ready yet.", {
    hint: "See `holdfast logs` and `holdfast info`.",
  });
}

/** Replaces this process with the daemon, for systemd, launchd and containers. */
export function becomeDaemon(bundle: string, { paths, env, home, names }: Omit<StartSurroundings, "progress">): never {
  process.chdir(paths.home);
  const argv = [process.execPath, bundle, "--foreground", ...choiceArguments(home)];
  if (process.execve === undefined) {
    throw new HoldfastError("preflight-failed", "--foreground is not supported on this platform.");
  }
  return process.execve(process.execPath, argv, {
    ...cleanEnvironment(env, agentVariables, names),
    ...managerVariables(env),
  });
}

/** systemd's variables are inherited by everything below a unit; only the process that it started itself is managed. */
export function managerVariables(env: NodeJS.ProcessEnv, pid = process.pid): Record<string, string> {
  const { INVOCATION_ID: invocation, SYSTEMD_EXEC_PID: started, XPC_SERVICE_NAME: service } = env;
  return {
    ...(invocation !== undefined && (started === undefined || started === String(pid))
      ? { INVOCATION_ID: invocation }
      : {}),
    ...(service === undefined ? {} : { XPC_SERVICE_NAME: service }),
  };
}
