import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultLaunchOptions } from "../../../base/launch-options.ts";
import { identify, isAlive, readStat, signalIdentity } from "../../../base/pid.ts";
import { createContext, type Context } from "../../context.ts";
import { start, stop, restart, endDaemon } from "./control.ts";
import { findDaemon, startingFile } from "./find-daemon.ts";
import { listOldBuilds } from "./install-build.ts";
import { dispatch } from "../../main.ts";

let directory: string;
let context: Context;
let out: string[];
let err: string[];

beforeEach(() => {
  directory = mkdtempSync("/tmp/hf-ctl-");
  mkdirSync(join(directory, "dist"));
  copyFileSync(join(import.meta.dirname, "../../test-support/scripted-daemon.cjs"), join(directory, "dist/daemon.cjs"));
  writeFileSync(join(directory, "dist/later-chunk.cjs"), "");
  [out, err] = [[], []];
  context = makeContext();
});

function makeContext(): Context {
  return createContext({
    env: { ...process.env, HOLDFAST_HOME: join(directory, "h"), TMUX: "x", CLAUDECODE: "1", HOLDFAST_PASSPHRASE: "" },
    cwd: directory,
    dist: join(directory, "dist"),
    io: {
      out: (text) => void out.push(text),
      write: (text) => void out.push(text),
      // That it takes long is said on a busy machine only.
      err: (text) => void (text.startsWith("Still starting.") || err.push(text)),
      isTerminal: () => false,
      terminalSize: () => null,
    },
  });
}

afterEach(async () => {
  const found = findDaemon(context.paths);
  if (found.daemon === "running") await endDaemon(found.file, { asked: false, print: () => undefined, waitMs: 100 });
  rmSync(directory, { recursive: true, force: true });
});

interface Given {
  pid: number;
  cwd: string;
  env: Record<string, string>;
  argv: string[];
  session: number;
  file: string;
}
const given = (): Given => JSON.parse(readFileSync(join(context.paths.home, "given.json"), "utf8")) as Given;

function script(text: string): void {
  mkdirSync(context.paths.home, { recursive: true });
  writeFileSync(join(context.paths.home, "script"), text);
}

const request = { options: defaultLaunchOptions };

test("[CLI-47] [CLI-40] start makes a private home, remembers its options, and starts a detached daemon with a clean environment", async () => {
  expect(await dispatch(["start", "--port", "0"], context)).toBe(0);
  const seen = given();
  expect(out).toEqual([`Holdfast is running at http://127.0.0.1:9 (pid ${seen.pid}).`]);
  expect(err).toEqual(["a note"]);
  const mode = (path: string): number => statSync(path).mode & 0o777;
  expect([mode(context.paths.home), mode(context.paths.launchFile)]).toEqual([0o700, 0o600]);
  expect(JSON.parse(readFileSync(context.paths.launchFile, "utf8"))).toEqual({
    ...defaultLaunchOptions,
    port: 0,
    portGiven: true,
  });
  expect(seen.session).toBe(seen.pid);
  expect(seen.cwd).toBe(context.paths.home);
  expect(seen.argv).toEqual([]);
  for (const name of ["TMUX", "CLAUDECODE", "HOLDFAST_PASSPHRASE", "NODE_OPTIONS"])
    expect(seen.env[name]).toBeUndefined();
  expect(seen.env["HOLDFAST_HOME"]).toBe(context.paths.home);
  expect(readdirSync(context.paths.run).filter((name) => name.startsWith("starting-"))).toEqual([]);
  out.length = 0;
  err.length = 0;
  expect(await dispatch(["start", "--port", "7"], context)).toBe(0);
  expect(out).toEqual([`Holdfast is already running at http://127.0.0.1:9 (pid ${seen.pid}).`]);
  expect(err).toEqual([expect.stringContaining("--port had no effect")]);
  expect(JSON.parse(readFileSync(context.paths.launchFile, "utf8"))).toMatchObject({ port: 0 });
});

test("[CLI-55] the daemon runs from a copy in the home, and a copy that nothing runs from goes", async () => {
  await start(context, request);
  const first = given().file;
  expect(first.startsWith(`${context.paths.builds}/`)).toBe(true);
  expect(existsSync(join(first, "../later-chunk.cjs"))).toBe(true);
  rmSync(context.dist, { recursive: true });
  expect(findDaemon(context.paths).daemon).toBe("running");
  mkdirSync(context.dist);
  copyFileSync(join(import.meta.dirname, "../../test-support/scripted-daemon.cjs"), join(context.dist, "daemon.cjs"));
  await restart(context);
  expect(given().file).not.toBe(first);
  // Not at once: another starter may be about to run from it. And never what a daemon runs from.
  expect(listOldBuilds(context.paths, null)).toEqual([]);
  expect(listOldBuilds(context.paths, null, Date.now() + 3_600_000)).toEqual([dirname(first)]);
});

test("[CLI-52] a daemon that reports a failure, or none at all, is an error with its words", async () => {
  script("failed");
  expect(await dispatch(["start"], context)).toBe(1);
  expect(err).toEqual(["Port 1 is taken by another program.", "Choose another one."]);
  err.length = 0;
  script("crash");
  expect(await dispatch(["start"], context)).toBe(1);
  expect(err[0]).toContain("The daemon exited before it was ready (exit code 7).");
  expect(err[0]).toContain("it went wrong early");
});

test("[CLI-52] a start during a stop retries instead of timing out", async () => {
  script("going");
  expect(await dispatch(["start"], context)).toBe(0);
  expect(out).toEqual([`Holdfast is running at http://127.0.0.1:9 (pid ${given().pid}).`]);
});

test("[CLI-54] options of a failed start are not replayed; those of the last successful one are", async () => {
  script("failed");
  expect(await dispatch(["start", "--port", "1"], context)).toBe(1);
  expect(existsSync(context.paths.launchFile)).toBe(false);
  script("ready");
  expect(await dispatch(["start", "--port", "0", "--read-only"], context)).toBe(0);
  await stop(context);
  for (const how of ["failed", "crash"]) {
    script(how);
    expect(await dispatch(["start", "--port", "1"], context)).toBe(1);
  }
  script("ready");
  expect(await dispatch(["session", "ls"], context)).toBe(0);
  expect(JSON.parse(readFileSync(context.paths.launchFile, "utf8"))).toMatchObject({ port: 0, readOnly: true });
  expect(existsSync(`${context.paths.launchFile}.before`)).toBe(false);
});

test("[CLI-45] any command starts it as it was started last, --no-start does not", async () => {
  expect(await dispatch(["session", "ls", "--no-start"], context)).toBe(1);
  expect(existsSync(context.paths.home)).toBe(false);
  await start(context, { options: { ...defaultLaunchOptions, readOnly: true } });
  const before = given().pid;
  await stop(context);
  expect(await dispatch(["session", "ls"], context)).toBe(0);
  expect(given().pid).not.toBe(before);
  expect(JSON.parse(readFileSync(context.paths.launchFile, "utf8"))).toMatchObject({ readOnly: true });
});

test("[CLI-45] a daemon that ends right after its start is reported as that, without a word about --no-start", async () => {
  script("dies-ready");
  expect(await dispatch(["session", "ls"], context)).toBe(1);
  expect(err.filter((line) => line !== "a note")).toEqual([
    "Holdfast was started, but exited immediately.",
    "See why with `holdfast logs`; start it again with `holdfast start`.",
  ]);
});

test("[CLI-52] a start that waits for another one whose daemon goes without getting ready starts its own", async () => {
  mkdirSync(context.paths.run, { recursive: true });
  const other = spawn("sleep", ["0.3"]);
  writeFileSync(startingFile(context.paths, other.pid!), JSON.stringify(identify(other.pid!)));
  expect(await dispatch(["start"], context)).toBe(0);
  expect(out).toEqual([`Holdfast is running at http://127.0.0.1:9 (pid ${given().pid}).`]);
});

test("[CLI-45] three commands at once with the daemon down start one daemon and all get their answer", async () => {
  script("locked");
  const codes = await Promise.all(Array.from({ length: 3 }, () => dispatch(["session", "ls"], makeContext())));
  expect([codes, err.filter((line) => line !== "a note")]).toEqual([[0, 0, 0], []]);
  expect(err).toEqual(["a note"]);
});

test("[CLI-54] of several simultaneous starts, the winner's options are kept", async () => {
  script("locked");
  await Promise.all([1, 2, 3, 4].map((port) => dispatch(["start", "--port", String(port)], makeContext())));
  const found = findDaemon(context.paths);
  expect(JSON.parse(readFileSync(context.paths.launchFile, "utf8"))).toEqual(
    found.daemon === "running" ? found.file.options : null,
  );
});

test("[CLI-49] stop requests the daemon's exit, waits for it, and reports what keeps running", async () => {
  await start(context, request);
  const identity = identify(given().pid)!;
  out.length = 0;
  expect(await dispatch(["stop"], context)).toBe(0);
  expect(out).toEqual(["Daemon stopped. 3 sessions keep running (holdfast start to supervise them again)."]);
  expect(isAlive(identity)).toBe(false);
});

test("[CLI-49] an unresponsive daemon is stopped by its identity", async () => {
  script("no-socket");
  await start(context, request);
  expect(await stop(context)).toEqual({ stop: "stopped", answer: null, ended: "terminated" });
  expect(err.at(-1)).toContain("is not responding; stopping its process");
});

test("[CLI-49] a daemon that ignores SIGTERM is killed, with a message", async () => {
  script("stubborn");
  await start(context, request);
  const identity = identify(given().pid)!;
  const said: string[] = [];
  expect(await endDaemon(identity, { asked: false, print: (text) => void said.push(text), waitMs: 100 })).toBe(
    "killed",
  );
  expect(said[0]).toContain("killing it");
  expect(isAlive(identity)).toBe(false);
  expect(await endDaemon(identity, { asked: false, print: () => undefined })).toBe("gone");
});

test("[CLI-46] [TERMINAL-9] info distinguishes a suspended daemon from a stopped one", async () => {
  await start(context, request);
  const identity = identify(given().pid)!;
  signalIdentity(identity, "SIGSTOP");
  out.length = 0;
  expect(await dispatch(["info", "--json"], context)).toBe(0);
  signalIdentity(identity, "SIGCONT");
  expect(JSON.parse(out.join("\n"))).toMatchObject({ state: "unresponsive", pid: identity.pid });
  expect(readStat(identity.pid)).not.toBeNull();
});

test("[CLI-51] restart recalls the passphrase before the old daemon is stopped", async () => {
  const options = { ...defaultLaunchOptions, host: "0.0.0.0" };
  await start({ ...context, env: { ...context.env, HOLDFAST_PASSPHRASE: "four quiet little words" } }, { options });
  const before = given().pid;
  rmSync(context.paths.passphrase);
  await expect(restart(context)).rejects.toThrow("requires a passphrase");
  expect(findDaemon(context.paths)).toMatchObject({ daemon: "running", file: { pid: before } });
  writeFileSync(context.paths.passphrase, "four quiet little words\n");
  const again = await restart(context);
  expect(again.start).toBe("started");
  expect(given().pid).not.toBe(before);
  expect(JSON.parse(readFileSync(context.paths.launchFile, "utf8"))).toMatchObject({ host: "0.0.0.0" });
});

test("[CLI-58] doctor --fix repairs permissions and removes a dead daemon's files", async () => {
  await start(context, request);
  const { pid } = given();
  signalIdentity(identify(pid)!, "SIGKILL");
  while (identify(pid) !== null) await new Promise((resume) => setTimeout(resume, 5));
  const { chmodSync, utimesSync } = await import("node:fs");
  chmodSync(context.paths.home, 0o755);
  const interrupted = join(context.paths.home, ".token.4711-2k9x1mz0qv.tmp");
  writeFileSync(interrupted, "ha");
  utimesSync(interrupted, 1_000, 1_000);
  out.length = 0;
  expect(await dispatch(["doctor"], context)).toBe(1);
  expect(out.join("\n")).toContain(`Other users can access ${context.paths.home} (mode 755).`);
  expect(await dispatch(["doctor", "--fix"], context)).toBe(0);
  expect(statSync(context.paths.home).mode & 0o777).toBe(0o700);
  const left = [context.paths.daemonFile, context.paths.socket, interrupted].filter((path) => existsSync(path));
  expect(left).toEqual([]);
  out.length = 0;
  expect(await dispatch(["doctor", "--json", "--prove"], context)).toBe(0);
  const findings = JSON.parse(out.join("\n")) as { check: string; level: string }[];
  expect(findings.filter(({ check }) => check.startsWith("proof ")).map(({ level }) => level)).toEqual([
    "ok",
    "ok",
    "ok",
    "ok",
  ]);
});
