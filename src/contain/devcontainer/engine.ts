/** Finds the container engine and the devcontainer CLI, and runs them. */
import { spawn } from "node:child_process";
import { findProgram } from "../../base/find-program.ts";

export interface Tools {
  cli: string;
  /** Path of docker or podman. */
  engine: string;
}

export type FoundTools = { is: "found"; tools: Tools } | { is: "missing"; problems: string[] };

const engines = ["docker", "podman"];
/** An engine that hangs must not block a session. */
const askMs = 20_000;
const stopSeconds = 10;
/** Characters kept of a command's output: the end has the result. */
const most = 16 * 1024 * 1024;

export const installCli = "Install it with `npm install -g @devcontainers/cli`.";

export interface Call {
  env: NodeJS.ProcessEnv;
  /** Kills the command and everything it started. */
  signal?: AbortSignal;
}

export async function findTools(call: Call): Promise<FoundTools> {
  const problems: string[] = [];
  const cli = findProgram("devcontainer", call.env["PATH"]);
  if (cli === null) problems.push(`devcontainer is not on the daemon's PATH. ${installCli}`);
  const found = engines.flatMap((name) => findProgram(name, call.env["PATH"]) ?? []);
  const engine = await firstThatAnswers(found, call);
  if (engine.works !== null && cli !== null) return { is: "found", tools: { cli, engine: engine.works } };
  if (found.length === 0) problems.push("No container engine is on the daemon's PATH. Install Docker or Podman.");
  else if (engine.works === null) problems.push(...engine.why);
  return { is: "missing", problems };
}

async function firstThatAnswers(
  paths: readonly string[],
  call: Call,
): Promise<{ works: string | null; why: string[] }> {
  const why: string[] = [];
  for (const path of paths) {
    // Not `version`, which the client answers alone.
    const result = await ask([path, "ps", "--quiet"], call);
    if (result.code === 0) return { works: path, why: [] };
    why.push(`${path} does not work: ${lastLine(result.stderr) || `exit status ${result.code}`}. Start its service.`);
  }
  return { works: null, why };
}

export interface ContainerSeen {
  id: string;
  session: string;
  running: boolean;
}

export const sessionLabel = "holdfast.session";
export const homeLabel = "holdfast.home";

/** A home's containers; null if the engine does not respond. */
export async function listContainers(engine: string, home: string, call: Call): Promise<ContainerSeen[] | null> {
  const format = `{{.ID}}\t{{.State}}\t{{.Label "${sessionLabel}"}}`;
  const result = await ask([engine, "ps", "--all", "--filter", `label=${homeLabel}=${home}`, "--format", format], call);
  if (result.code !== 0) return null;
  return result.stdout.split("\n").flatMap((line) => {
    const [id = "", state = "", session = ""] = line.split("\t");
    return id === "" || session === ""
      ? []
      : [{ id, session, running: /^(running|up|paused|restarting)/i.test(state) }];
  });
}

export async function inspect(engine: string, id: string, call: Call): Promise<unknown> {
  const result = await ask([engine, "inspect", "--type", "container", id], call);
  if (result.code !== 0) throw new Error(lastLine(result.stderr) || `exit status ${result.code}`);
  return (JSON.parse(result.stdout) as unknown[])[0];
}

/** Stops everything in it; it can be started again. */
export async function stopContainer(engine: string, id: string, force: boolean, call: Call): Promise<void> {
  const words = force ? ["kill", id] : ["stop", "-t", String(stopSeconds), id];
  await ask([engine, ...words], call, askMs + stopSeconds * 1000);
}

export async function removeContainer(engine: string, id: string, call: Call): Promise<void> {
  await ask([engine, "rm", "--force", "--volumes", id], call, askMs + stopSeconds * 1000);
}

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command in its own process group, which is killed at the deadline or on the signal: the devcontainer CLI
 * starts clients of the engine, which would outlive it.
 */
export function ask(argv: readonly string[], { env, signal }: Call, deadlineMs = askMs): Promise<RunResult> {
  if (signal?.aborted === true) return Promise.resolve({ code: 128, stdout: "", stderr: "it was aborted" });
  return new Promise((resolve) => {
    const child = spawn(argv[0]!, argv.slice(1), { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const result = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => (result[name] = (result[name] + text).slice(-most)));
    }
    let why = "";
    const end = (reason: string): void => {
      why = reason;
      endGroup(child.pid);
      // A process that left the group may keep the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const onAbort = (): void => end("it was aborted");
    const timer = setTimeout(() => end(`it took longer than ${Math.round(deadlineMs / 1000)} s`), deadlineMs);
    signal?.addEventListener("abort", onAbort);
    const settle = (code: number, reason: string): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve({ code, stdout: result.stdout, stderr: result.stderr === "" ? reason : result.stderr });
    };
    child.on("error", (error) => settle(128, error.message));
    child.on("close", (code) => settle(why === "" ? (code ?? 128) : 128, why));
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It just exited.
  }
}

export function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
