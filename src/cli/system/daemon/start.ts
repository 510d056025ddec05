/**
 * Starts the daemon detached: a process session of its own, no pipe but the one for a single report, its own directory, a
 * clean environment. Everything it needs lies in the home; its options are read from the launch file.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { agentVariables } from "../../../agents/registry.ts";
import { cleanEnvironment } from "../../../base/clean-env.ts";
import { makePrivateDirectory, writeAtomically } from "../../../base/durable-file.ts";
import type { StartReport } from "../../../base/launch-options.ts";
import type { Paths } from "../../../base/paths.ts";
import { identify } from "../../../base/pid.ts";
import { HoldfastError } from "../../../contract/error.ts";
import { readCgroupFacts, scopePrefix } from "../../../base/cgroup-risk.ts";
import { judgeCgroup } from "../../../base/cgroup-risk.ts";
import { clearStarting, findDaemon, startingFile } from "./find-daemon.ts";

export interface Started {
  url: string;
  pid: number;
  /** To be read by the person: what the daemon says of its start, and which risk remains. */
  notes: string[];
  /** False when another starter was faster. */
  ours: boolean;
}

export type HomeChoice = "moved" | "copied" | null;

export interface StartSurroundings {
  paths: Paths;
  env: NodeJS.ProcessEnv;
  /** What the user chose for a home that is in another directory than before; for this start alone. */
  home?: HomeChoice;
  /** Variables that the user's configuration asks for beyond the usual ones. */
  names: readonly string[];
  /** Told when the start takes long enough for a person to wonder. */
  progress: (text: string) => void;
  /** It is started to halt the sessions. */
  mayHalt?: boolean;
}

const progressAfterMs = 2_000;
/** A first start after an unclean shutdown may have a lot to look at; nothing is ended when this passes. */
const readyDeadlineMs = 120_000;
const pollMs = 25;
/** A stop takes under a second; after it, whoever holds the home without a sign of starting is asked for it again. */
const settleMs = 1_000;
const exitWaitMs = 1_000;
/** Output of a daemon that crashes early; what it logs itself is rotated elsewhere. */
const rawOutputMaxBytes = 1024 * 1024;

export function prepareHome(paths: Paths): void {
  makePrivateDirectory(paths.home);
  chmodSync(paths.home, 0o700);
  for (const directory of [paths.logs, paths.run, paths.builds]) mkdirSync(directory, { recursive: true, mode: 0o700 });
}

export async function startDaemon(bundle: string, surroundings: StartSurroundings): Promise<Started> {
  const { paths, progress } = surroundings;
  const deadline = Date.now() + readyDeadlineMs;
  const slow = setInterval(() => progress("Still starting; `holdfast logs` shows what it does."), progressAfterMs);
  try {
    for (;;) {
      const started = await launchOnce(bundle, surroundings);
      if (started !== null) return started;
      // Whoever holds the home is starting and answers soon; or it is just going, and then there is room for ours.
      const other = await waitForOther(paths, deadline);
      if (other !== null) return { ...other, notes: [], ours: false };
    }
  } finally {
    clearInterval(slow);
  }
}

/** Null when another daemon holds this home. */
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
    // The scope is ours, but it ends with the person's manager: judge where the daemon now is.
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

/** So that `info` and `stop` see a daemon that does not answer yet. */
function noteStarting(paths: Paths, child: ChildProcess): string {
  clearStarting(paths);
  const pid = child.pid ?? 0;
  const path = startingFile(paths, pid);
  const identity = pid === 0 ? null : identify(pid);
  if (identity !== null) writeAtomically(path, JSON.stringify(identity));
  return path;
}

/** The one line, or null when the pipe closed without it. */
async function readReport(child: ChildProcess): Promise<StartReport | null> {
  const pipe = child.stdio[3] as Readable;
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  const line = new Promise<StartReport | null>((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => {
      reject(
        new HoldfastError("starting", `The daemon (pid ${child.pid}) is not ready after ${readyDeadlineMs / 1000} s.`, {
          hint: "It goes on starting: see `holdfast logs` and `holdfast info`.",
        }),
      );
    }, readyDeadlineMs);
    pipe.setEncoding("utf8");
    pipe.on("data", (chunk: string) => (text += chunk));
    // The daemon closes the pipe right behind its line.
    pipe.once("close", () => {
      clearTimeout(timer);
      resolve(parseReport(text));
    });
  });
  try {
    return await Promise.race([line, failed]);
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
  // The pipe closes a moment before the process is gone.
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise<void>((resume) => {
      const timer = setTimeout(resume, exitWaitMs);
      child.once("exit", () => {
        clearTimeout(timer);
        resume();
      });
    });
  }
  const lines = readFileSync(rawOutput(paths), "utf8").split("\n");
  const last = lines.filter((line) => line.trim() !== "").slice(-8);
  const how = child.signalCode === null ? `exit code ${child.exitCode ?? "unknown"}` : child.signalCode;
  return new HoldfastError("launch-failed", [`The daemon ended before it was ready (${how}).`, ...last].join("\n"), {
    hint: `Its output is in ${rawOutput(paths)}.`,
  });
}

/** Another daemon that is starting: where it runs, or null when it went without getting ready. */
export async function waitForOther(
  paths: Paths,
  deadline = Date.now() + readyDeadlineMs,
): Promise<{ url: string; pid: number } | null> {
  const other = await untilRunning(paths, () => Date.now() < deadline && findDaemon(paths).daemon === "starting");
  if (other === null && Date.now() >= deadline) throw notReadyYet();
  return other;
}

/** A scope swallowed the pipe: the file tells when it answers. */
async function waitUntilRunning(paths: Paths): Promise<{ url: string; pid: number }> {
  const deadline = Date.now() + readyDeadlineMs;
  const running = await untilRunning(paths, () => Date.now() < deadline);
  if (running === null) throw notReadyYet();
  return running;
}

/** Null when it is not, a moment after there was a reason to wait for it. */
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

/** Becomes the daemon: for systemd, launchd, containers. Returns only if that fails. */
export function becomeDaemon(bundle: string, { paths, env, home, names }: Omit<StartSurroundings, "progress">): never {
  process.chdir(paths.home);
  const argv = [process.execPath, bundle, "--foreground", ...choiceArguments(home)];
  if (process.execve === undefined) {
    throw new HoldfastError("preflight-failed", "--foreground does not work on this platform.");
  }
  return process.execve(process.execPath, argv, {
    ...cleanEnvironment(env, agentVariables, names),
    ...managerMarks(env),
  });
}

/** systemd's marks are inherited by everything below a unit; only the process that it started itself is managed by it. */
export function managerMarks(env: NodeJS.ProcessEnv, pid = process.pid): Record<string, string> {
  const { INVOCATION_ID: invocation, SYSTEMD_EXEC_PID: started, XPC_SERVICE_NAME: service } = env;
  return {
    ...(invocation !== undefined && (started === undefined || started === String(pid))
      ? { INVOCATION_ID: invocation }
      : {}),
    ...(service === undefined ? {} : { XPC_SERVICE_NAME: service }),
  };
}
