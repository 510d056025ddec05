/**
 * A Holdfast for one test: its own home, port, tmux socket and HOME. `await using` stops everything it started and
 * fails the test if something is left.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { DaemonFile } from "../../src/base/launch-options.ts";
import { resolvePaths, type Paths } from "../../src/base/paths.ts";
import type { SessionJson } from "../../src/contract/session.ts";
import { endMarked, isRunning, markedProcesses } from "./marked.ts";
import { until } from "./until.ts";

const root = join(import.meta.dirname, "../..");
/** Short, because socket paths must be. */
export const homesDirectory = "/tmp";
export const homePrefix = (run: string): string => `hf-test-${run.slice(0, 6)}-`;

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  input?: string;
  env?: Record<string, string | undefined>;
  cwd?: string;
  timeoutMs?: number;
  /** `as-given`: without the --trust that the harness adds. */
  trust?: "as-given";
}

const isDaemon = ({ what }: { what: string }): boolean => what.includes("daemon.cjs");

export class Home implements AsyncDisposable {
  readonly directory: string;
  readonly home: string;
  readonly userHome: string;
  readonly points: string;
  readonly paths: Paths;
  readonly env: Record<string, string>;

  constructor(env: Record<string, string> = {}) {
    const run = process.env["HOLDFAST_TEST_RUN"] ?? "alone";
    this.directory = mkdtempSync(join(homesDirectory, homePrefix(run)));
    this.home = join(this.directory, "h");
    this.userHome = join(this.directory, "user");
    this.points = join(this.directory, "points");
    mkdirSync(this.userHome);
    mkdirSync(this.points);
    this.env = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.userHome,
      LANG: "C.UTF-8",
      HOLDFAST_HOME: this.home,
      HOLDFAST_TEST_POINTS: this.points,
      HOLDFAST_TEST_RUN: run,
      GIT_CONFIG_GLOBAL: join(this.userHome, ".gitconfig"),
      // A verb that takes too long responds before everything has stopped; a busy machine takes longer.
      HOLDFAST_TEST_END_MS: "45000",
      HOLDFAST_TEST_HALT_MS: "45000",
      ...env,
    };
    writeFileSync(
      join(this.userHome, ".gitconfig"),
      '[user]\n\tname = Test\n\temail = test@localhost\n[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n[maintenance]\n\tauto = false\n',
    );
    this.paths = resolvePaths(this.env);
  }

  /** Runs the built CLI. A test's own repositories are trusted unless it opts out. */
  cli(args: string[], options: RunOptions = {}): Promise<Ran> {
    const asks =
      ["spawn", "batch-spawn", "init"].includes(args[0] ?? "") || args.slice(0, 2).join(" ") === "project add";
    // An agent cannot trust anything.
    const byAgent = (options.env?.["HOLDFAST_SESSION"] ?? "") !== "";
    const trusted = asks && options.trust !== "as-given" && !byAgent && !args.includes("--help");
    return this.run(join(root, "bin/holdfast"), trusted ? [...args, "--trust"] : args, options);
  }

  /** Runs it and fails unless it succeeds. */
  async ok(args: string[], options: RunOptions = {}): Promise<string> {
    const ran = await this.cli(args, options);
    if (ran.code !== 0) {
      throw new Error(`holdfast ${args.join(" ")} exited ${ran.code}\n${ran.stdout}\n${ran.stderr}\n${this.logTail()}`);
    }
    return ran.stdout;
  }

  async json<T = SessionJson>(args: string[], options: RunOptions = {}): Promise<T> {
    return JSON.parse(await this.ok([...args, "--json"], options)) as T;
  }

  run(command: string, args: string[], options: RunOptions = {}): Promise<Ran> {
    return new Promise((resolve, reject) => {
      const env: Record<string, string> = { ...this.env };
      for (const [name, value] of Object.entries(options.env ?? {})) {
        if (value === undefined) delete env[name];
        else env[name] = value;
      }
      const child = spawn(command, args, { cwd: options.cwd ?? this.directory, env, stdio: ["pipe", "pipe", "pipe"] });
      let stdout = "";
      let stderr = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => void (stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text));
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        reject(new Error(`${command} ${args.join(" ")} took too long\n${stdout}\n${stderr}\n${this.logTail()}`));
      }, options.timeoutMs ?? 60_000);
      child.on("error", reject);
      child.on("close", (code) => {
        clearTimeout(timer);
        resolve({ code, stdout, stderr });
      });
      child.stdin.on("error", () => undefined);
      child.stdin.end(options.input ?? "");
    });
  }

  daemon(): DaemonFile {
    return JSON.parse(readFileSync(this.paths.daemonFile, "utf8")) as DaemonFile;
  }

  /** Over the socket: strangers do not learn whether a write works. */
  health(): Promise<{ status: number; json: unknown }> {
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: this.paths.socket, path: "/api/health" }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => void (text += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
      });
      asked.on("error", reject);
      asked.end();
    });
  }

  /** SIGKILL, like a crash. */
  async crash(): Promise<void> {
    const { pid } = this.daemon();
    process.kill(pid, "SIGKILL");
    await until("the daemon to be gone", () => !isRunning(pid));
  }

  /**
   * Restarts the daemon on a port that it can reuse later: below the ephemeral ports, one of which another test
   * may get while this daemon is down. Returns it.
   */
  async keepPort(...options: string[]): Promise<string> {
    await this.ok(["stop"]);
    for (let tries = 0; ; tries++) {
      const port = String(randomInt(20_000, 32_000));
      const started = await this.cli(["start", "--port", port, ...options]);
      if (started.code === 0) return port;
      if (tries === 20) throw new Error(`no port could be kept: ${started.stderr}`);
    }
  }

  /** Arms a named test point; see src/base/test-points.ts. */
  arm(point: string, action: "pause" | "kill" | "fail", text = ""): void {
    rmSync(join(this.points, `${point}.reached`), { force: true });
    writeFileSync(join(this.points, `${point}.${action}`), text);
  }

  disarm(point: string): void {
    for (const action of ["pause", "kill", "fail"]) rmSync(join(this.points, `${point}.${action}`), { force: true });
  }

  async reached(point: string): Promise<void> {
    await until(`the test point ${point}`, () => existsSync(join(this.points, `${point}.reached`)));
  }

  /** A repository with one commit, ready to be added as a project. */
  async repository(name = "my-app"): Promise<string> {
    const path = join(this.directory, name);
    mkdirSync(path);
    writeFileSync(join(path, "README.md"), "hello\n");
    for (const args of [
      ["init", "-q"],
      ["add", "-A"],
      ["commit", "-q", "-m", "first"],
    ])
      await this.git(path, args);
    return path;
  }

  async git(path: string, args: string[]): Promise<string> {
    const ran = await this.run("git", ["-C", path, ...args]);
    if (ran.code !== 0) throw new Error(`git ${args.join(" ")} failed: ${ran.stderr}`);
    return ran.stdout.trim();
  }

  logTail(): string {
    if (!existsSync(this.paths.logs)) return "";
    return readdirSync(this.paths.logs)
      .map(
        (name) => `--- ${name}\n${readFileSync(join(this.paths.logs, name), "utf8").split("\n").slice(-25).join("\n")}`,
      )
      .join("\n");
  }

  async #ended(): Promise<void> {
    await until("the daemon to end once all is down", () => !existsSync(this.paths.daemonFile), 60_000);
    await until("the daemon to be gone", () => !markedProcesses(`HOLDFAST_HOME=${this.home}`).some(isDaemon));
  }

  /** Where no daemon cleans it up. */
  endTmuxServer(): void {
    spawnSync("tmux", ["-L", this.paths.tmuxSocket, "kill-server"], { stdio: "ignore" });
    for (const file of this.#tmuxSockets()) rmSync(file, { force: true });
  }

  #tmuxSockets(): string[] {
    const socket = `/tmp/tmux-${process.getuid?.() ?? 0}/${this.paths.tmuxSocket}`;
    return [socket, `${socket}.lock`];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of readdirSync(this.points)) if (!name.endsWith(".reached")) rmSync(join(this.points, name));
    if (existsSync(this.paths.database)) {
      const halted = await this.cli(["stop", "--halt-sessions", "--yes"]);
      // On a busy machine it may take longer than the command waits; a stop would leave sessions that are still stopping.
      // One that never stops is among the leftovers below.
      if (halted.stderr.includes("Still running")) await this.#ended().catch(() => undefined);
      // A read-only daemon halts nothing.
      else if (halted.code !== 0) await this.cli(["stop"]);
    }
    const left = markedProcesses(`HOLDFAST_HOME=${this.home}`);
    await endMarked(left);
    rmSync(this.directory, { recursive: true, force: true });
    const files = this.#tmuxSockets().filter((file) => existsSync(file));
    for (const file of files) rmSync(file);
    if (files.length > 0) throw new Error(`left behind: ${files.join(", ")}`);
    if (left.length > 0) throw new Error(`left running: ${left.map(({ pid, what }) => `${pid} ${what}`).join("; ")}`);
  }
}
