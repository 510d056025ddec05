/** Runs postCreate commands one after another in the worktree and streams their output. */
import { spawn } from "node:child_process";
import { endTree, findTree, type TreeMember, type TreeTarget } from "../../base/process-tree.ts";
import { startChild, whyNotStarted } from "../../base/run.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError } from "../../contract/errors.ts";
import { cleanEnvironment } from "../git/git-rules.ts";
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { sep } from "node:path";

const shellOnly = new Set(["|", "&", ";", "<", ">", "(", ")", "$", "`", "*", "?", "~", "\n"]);

export function splitArgv(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let index = 0; index < line.length; index += 1) {
    const char = line[index]!;
    if (quote === "'") {
      if (char === "'") quote = null;
      else word += char;
    } else if (char === "\\") {
      index += 1;
      const next = line[index];
      if (next === undefined) throw refuse(line, "it ends with a backslash");
      // Inside double quotes a backslash only escapes special characters.
      word = (word ?? "") + (quote === '"' && next !== '"' && next !== "\\" ? `\\${next}` : next);
    } else if (quote === '"') {
      if (char === '"') quote = null;
      else if (char === "$" || char === "`") throw refuse(line, `"${char}" needs a shell`);
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === " " || char === "\t") {
      if (word !== null) words.push(word);
      word = null;
    } else if (shellOnly.has(char)) {
      throw refuse(line, char === "\n" ? "it has more than one line" : `"${char}" needs a shell`);
    } else {
      word = (word ?? "") + char;
    }
  }
  if (quote !== null) throw refuse(line, "a quote is not closed");
  if (word !== null) words.push(word);
  if (words.length === 0) throw refuse(line, "it is empty");
  return words;
}

function refuse(line: string, why: string): HoldfastError {
  return new HoldfastError("invalid", `postCreate cannot run \`${line}\`: ${why}.`, {
    hint: "Commands run without a shell. Quote the argument, or name the shell: sh -c '…'.",
  });
}

/** A first `npm ci` of a large project on a slow connection. */
const commandDeadlineMs = 20 * 60_000;
const keptLines = 12;
/**
 * In the environment of everything a command starts, with the worktree's path: finds processes that outlive the command
 * or the daemon.
 */
const marker = "HOLDFAST_MAKING";
/** Package managers clean up after a SIGTERM. */
const politeMs = 2_000;
const forceMs = 3_000;
/** How long the last output may take to arrive after the exit. */
const drainMs = 250;

interface Where {
  path: string;
  env: Record<string, string>;
  output: (text: string) => void;
  /** The worktree is no longer needed. */
  signal?: AbortSignal | undefined;
  deadlineMs?: number;
}

export async function runCommands(lines: readonly string[], where: Where): Promise<void> {
  const commands = lines.map((line) => ({ line, argv: splitArgv(line) }));
  for (const { line, argv } of commands) {
    where.signal?.throwIfAborted();
    where.output(`$ ${line}\n`);
    const { code, signal, last, why } = await run(argv, where);
    where.signal?.throwIfAborted();
    if (code === 0) continue;
    const how = why ?? (signal === null ? `exit code ${code}` : `ended by ${signal}`);
    throw new HoldfastError("launch-failed", [`postCreate \`${line}\` failed: ${how}.`, ...last].join("\n"), {
      hint: "Fix the project's postCreate, or run the command by hand to see more.",
    });
  }
}

/** All processes started by commands of this worktree. */
const startedFor = (path: string): TreeTarget => ({ roots: [], marker: { name: marker, values: [path] } });

export async function areCommandsLeft(path: string): Promise<boolean> {
  return (await findTree(startedFor(path))).length > 0;
}

/** Stops them, and returns those that keep running. */
async function endCommands(path: string): Promise<TreeMember[]> {
  return await endTree(startedFor(path), { politeMs, forceMs });
}

export async function endAllCommands(path: string): Promise<void> {
  const left = await endCommands(path);
  if (left.length === 0) return;
  const named = left.map(({ identity, what }) => `${what} (pid ${identity.pid})`).join(", ");
  throw new HoldfastError("conflict", `Cannot stop a command that creates ${path}: ${named}.`);
}

/** The processes in the worktree, after stopping our leftover commands. */
export async function othersInside(path: string): Promise<Inside[]> {
  if (processesInside(path).length === 0) return [];
  await endCommands(path);
  return processesInside(path);
}

interface Ran {
  code: number | null;
  signal: NodeJS.Signals | null;
  last: string[];
  why: string | null;
}

async function run(argv: readonly string[], where: Where): Promise<Ran> {
  const env = { ...cleanEnvironment(), ...where.env, [marker]: where.path };
  const begin = () =>
    withPersonalUmask(() =>
      spawn(argv[0]!, argv.slice(1), { cwd: where.path, env, detached: true, stdio: ["ignore", "pipe", "pipe"] }),
    );
  let child: ReturnType<typeof begin>;
  try {
    child = await startChild(begin);
  } catch (error) {
    return { code: null, signal: null, last: [], why: `cannot start: ${whyNotStarted(error)}` };
  }
  return await new Promise<Ran>((resolve) => {
    let tail = "";
    let why: string | null = null;
    const timer = setTimeout(() => {
      why = "timed out";
      void endCommands(where.path);
    }, where.deadlineMs ?? commandDeadlineMs);
    const unwanted = (): void => void endCommands(where.path);
    where.signal?.addEventListener("abort", unwanted, { once: true });
    const show = (text: string): void => {
      tail = (tail + text).slice(-8192);
      where.output(text);
    };
    child.stdout.setEncoding("utf8").on("data", show);
    child.stderr.setEncoding("utf8").on("data", show);
    const finish = (code: number | null, signal: NodeJS.Signals | null): void => {
      clearTimeout(timer);
      where.signal?.removeEventListener("abort", unwanted);
      resolve({ code, signal, last: tail.trimEnd().split("\n").slice(-keptLines).filter(Boolean), why });
    };
    child.on("error", (error) => {
      why = `cannot start: ${error.message}`;
      finish(null, null);
    });
    // `close` may never come: a server left behind keeps the pipes open.
    child.on("exit", (code, signal) => setTimeout(() => finish(code, signal), drainMs).unref());
    child.on("close", finish);
  });
}

export interface Inside {
  pid: number;
  command: string;
}

/** Live processes whose working directory is at or below `path` (Linux only): a rename would move them along. */
export function processesInside(path: string): Inside[] {
  if (process.platform !== "linux") return [];
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    return [];
  }
  const found: Inside[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    let cwd: string;
    try {
      cwd = readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      // Exited, a zombie, or another user's, who cannot work in our directory.
      continue;
    }
    if (cwd === real || cwd.startsWith(real + sep)) found.push({ pid, command: commandOf(pid) });
  }
  return found;
}

export function describeInside(inside: readonly Inside[]): string {
  const shown = inside.slice(0, 3).map(({ pid, command }) => `${command} (pid ${pid})`);
  return shown.join(", ") + (inside.length > shown.length ? ` and ${inside.length - shown.length} more` : "");
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "a process";
  }
}
