/**
 * Runs a command as agents run their tools: in its own process session, without a shell. It is stopped when the turn is
 * cancelled and when the agent exits; only a SIGKILL of the agent leaves it running.
 */
import { spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";

export interface ToolResult {
  output: string;
  exitCode: number | null;
  signal: string | null;
}

/** Enough for a screenful; a tool's output is shown again with each update. */
const maxOutput = 16 * 1024;
/** How often a running tool's output is shown. */
const showEveryMs = 100;
/** Between SIGTERM and SIGKILL. */
const graceMs = 500;

/** How long the output of an exited tool is awaited. */
const drainMs = 200;

const running = new Set<number>();

export function runTool(
  command: string,
  cwd: string,
  signal: AbortSignal,
  show: (output: string) => void,
): Promise<ToolResult> {
  const [program = "", ...args] = wordsOf(command);
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  let shown = "";
  const take = (chunk: string): void => {
    output = (output + chunk).slice(-maxOutput);
  };
  child.stdout.setEncoding("utf8").on("data", take);
  child.stderr.setEncoding("utf8").on("data", take);
  const showing = setInterval(() => {
    if (output !== shown) show((shown = output));
  }, showEveryMs);
  if (child.pid !== undefined) running.add(child.pid);
  const end = (): void => endTool(child.pid);
  signal.addEventListener("abort", end, { once: true });
  return new Promise<ToolResult>((resolve) => {
    child.on("error", (error) => resolve({ output: error.message, exitCode: null, signal: null }));
    child.on("close", (exitCode, signal) => resolve({ output, exitCode, signal }));
    // Children of the tool may keep the pipes open forever.
    child.on("exit", (exitCode, signal) => setTimeout(() => resolve({ output, exitCode, signal }), drainMs));
  }).finally(() => {
    clearInterval(showing);
    signal.removeEventListener("abort", end);
    if (child.pid !== undefined) running.delete(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
  });
}

/** When the agent exits: there is no time to stop them gracefully. */
export function endTools(): void {
  for (const pid of running) signalGroup(pid, "SIGKILL");
}

function endTool(pid: number | undefined): void {
  if (pid === undefined) return;
  signalGroup(pid, "SIGTERM");
  setTimeout(() => {
    if (running.has(pid)) signalGroup(pid, "SIGKILL");
  }, graceMs).unref();
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It exited meanwhile.
  }
}

/** Splits at blanks outside of quotes: `sh -c 'sleep 5; echo done'`. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}

export type Edited =
  | { edited: true; path: string; oldText: string | null; newText: string }
  | { edited: false; why: string };

/** Writes one file of the worktree, and nothing outside of it. */
export function editFile(cwd: string, path: string, text: string): Edited {
  const target = resolve(cwd, path);
  const why = refusal(cwd, target);
  if (why !== null) return { edited: false, why };
  const oldText = existsSync(target) ? readFileSync(target, "utf8") : null;
  const newText = `${text}\n`;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, newText);
  return { edited: true, path: target, oldText, newText };
}

function refusal(cwd: string, target: string): string | null {
  // By real paths: a link in the middle of a path leads outside just like `..`.
  if (!(realpathSync(existingParent(target)) + sep).startsWith(realpathSync(cwd) + sep)) {
    return `${target} is outside of the working directory`;
  }
  if (target.split(sep).includes(".git")) return "files below .git belong to git";
  const stats = lstatSync(target, { throwIfNoEntry: false });
  return stats === undefined || stats.isFile() ? null : `${target} is not a plain file`;
}

function existingParent(target: string): string {
  const parent = dirname(target);
  return existsSync(parent) ? parent : existingParent(parent);
}
