/** Starts programs and measures how long that takes. Stops everything that it started, by handle. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { agentVariables } from "../../src/agents/registry.ts";
import { cleanEnvironment } from "../../src/base/clean-env.ts";
import type { StartReport } from "../../src/base/launch-options.ts";
import { daemonBundle, type BenchHome } from "./home.ts";

const floors = join(import.meta.dirname, "../floors");
const floorBuild = join(tmpdir(), "holdfast-floors");
/** The floor of a start: an empty program of the same Node, until it could answer. */
const emptyProgram = "require('fs').writeSync(3,'R\\n');setInterval(()=>{},1e6)";
const deadlineMs = 60_000;

export interface Elapsed {
  ms: number;
  /** Its own CPU time: the steadier figure on a shared machine. Null if only a Node parent could measure it. */
  cpuMs: number | null;
}
export type Stopwatch = (argv: readonly string[], env: Record<string, string>) => Elapsed;

/**
 * From fork to exit, in milliseconds. Measured by the small C program if there is a compiler: a Node parent adds
 * milliseconds to the figure.
 */
export function stopwatch(): { by: "c" | "node"; time: Stopwatch } {
  const made = spawnSync("make", ["-s", "-C", floors, `B=${floorBuild}`, join(floorBuild, "start")]);
  const start = join(floorBuild, "start");
  if (made.status !== 0 || !existsSync(start)) return { by: "node", time: timeByNode };
  return {
    by: "c",
    time: (argv, env) => {
      const ran = spawnSync(start, ["1", "0", "exit", ...argv], { env, encoding: "utf8" });
      if (ran.status !== 0) throw new Error(`${argv.join(" ")}: ${ran.stderr}`);
      const { ms, cpu_ms: cpuMs } = JSON.parse(ran.stdout) as { ms: number; cpu_ms: number };
      return { ms, cpuMs };
    },
  };
}

function timeByNode([command = "", ...args]: readonly string[], env: Record<string, string>): Elapsed {
  const startedAt = performance.now();
  const ran = spawnSync(command, args, { env, stdio: "ignore" });
  if (ran.error !== undefined) throw ran.error;
  return { ms: performance.now() - startedAt, cpuMs: null };
}

export interface Running extends AsyncDisposable {
  pid: number;
  /** From spawn to the ready line; for a daemon, to the first response on its socket. */
  readyMs: number;
  answeredMs: number;
}

export async function startEmptyNode(): Promise<Running> {
  return start(["-e", emptyProgram], { cwd: tmpdir(), env: { PATH: process.env["PATH"] ?? "" } }, () =>
    Promise.resolve(),
  );
}

/**
 * Started as by the CLI, with the same environment, directory and report, but not detached. `check` receives its first
 * response and throws if it is not as expected.
 */
export async function startDaemon(
  home: BenchHome,
  path = "/api/health",
  check: (answer: string) => void = () => {},
): Promise<Running> {
  const options = { cwd: home.paths.home, env: cleanEnvironment(home.env, agentVariables) };
  return start([daemonBundle], options, async (line) => {
    const report = JSON.parse(line) as StartReport;
    if (report.report !== "ready") throw new Error(`the daemon did not start: ${line}`);
    check(await ask(home.paths.socket, path));
  });
}

async function start(
  argv: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
  answer: (line: string) => Promise<void>,
): Promise<Running> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, argv, { ...options, stdio: ["ignore", "ignore", "ignore", "pipe"] });
  try {
    const line = await firstLine(child);
    const readyMs = performance.now() - startedAt;
    await answer(line);
    const answeredMs = performance.now() - startedAt;
    return { pid: child.pid ?? 0, readyMs, answeredMs, [Symbol.asyncDispose]: () => end(child) };
  } catch (error) {
    await end(child);
    throw error;
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready after ${deadlineMs} ms`)), deadlineMs);
    let text = "";
    (child.stdio[3] as Readable).setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const [line, rest] = text.split("\n", 2);
      if (rest === undefined || line === undefined) return;
      clearTimeout(timer);
      resolve(line);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`ended before it was ready (${code ?? signal ?? "?"})`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const force = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await ended;
  clearTimeout(force);
}

/** GET, or POST with a body, on the daemon's own socket; returns the text of a successful response. */
export function ask(socketPath: string, path: string, body?: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const write = { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) };
    const headers = { host: "localhost", ...(body === undefined ? {} : write) };
    const method = body === undefined ? "GET" : "POST";
    const asked = request({ socketPath, path, method, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => {
        if (answer.statusCode === 200) resolve(text);
        else reject(new Error(`${path} answered ${answer.statusCode ?? "?"}: ${text}`));
      });
    });
    asked.setTimeout(deadlineMs, () => asked.destroy(new Error(`${path} did not answer`)));
    asked.on("error", reject).end(text);
  });
}
