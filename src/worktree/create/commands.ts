/** Runs postCreate commands one after the other in the worktree, with what they print shown as it comes. */
import { spawn } from "node:child_process";
import { endTree, findTree, type TreeMember, type TreeTarget } from "../../base/process-tree.ts";
import { startChild, whyNotStarted } from "../../base/run.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError } from "../../contract/error.ts";
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
      // Inside double quotes a backslash only escapes what would otherwise mean something.
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
    hint: "Commands are not run by a shell. Quote the argument, or name the shell: sh -c '…'.",
  });
}

/** A first `npm ci` of a large project on a slow line; longer is taken for hung. */
const commandDeadlineMs = 20 * 60_000;
const keptLines = 12;
/** In the environment of all that a command starts, with the worktree: so is found what outlives it, or the daemon. */
const marker = "HOLDFAST_MAKING";
/** Package managers clean up behind themselves when they are asked to go. */
const politeMs = 2_000;
const forceMs = 3_000;
/** How long what was printed last may take to arrive after the exit. */
const drainMs = 250;

interface Where {
  path: string;
  env: Record<string, string>;
  output: (text: string) => void;
  /** Nobody wants the worktree any more. */
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
      hint: "Correct the project's postCreate, or run the command by hand to see more.",
    });
  }
}

/** Everything that commands of this worktree started, themselves included. */
const startedFor = (path: string): TreeTarget => ({ roots: [], marker: { name: marker, values: [path] } });

export async function areCommandsLeft(path: string): Promise<boolean> {
  return (await findTree(startedFor(path))).length > 0;
}

/** Ends them, and returns what is left all the same. */
async function endCommands(path: string): Promise<TreeMember[]> {
  return await endTree(startedFor(path), { politeMs, forceMs });
}

export async function endAllCommands(path: string): Promise<void> {
  const left = await endCommands(path);
  if (left.length === 0) return;
  const named = left.map(({ identity, what }) => `${what} (pid ${identity.pid})`).join(", ");
  throw new HoldfastError("conflict", `A command that makes ${path} could not be ended: ${named}.`);
}

/** Who works in the worktree, once commands of ours that were left there are ended. */
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
    return { code: null, signal: null, last: [], why: `could not be started: ${whyNotStarted(error)}` };
  }
  return await new Promise<Ran>((resolve) => {
    let tail = "";
    let why: string | null = null;
    const timer = setTimeout(() => {
      why = "took too long and was ended";
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
      why = `could not be started: ${error.message}`;
      finish(null, null);
    });
    // `close` may never come: a command that leaves a server behind keeps the pipes open.
    child.on("exit", (code, signal) => setTimeout(() => finish(code, signal), drainMs).unref());
    child.on("close", finish);
  });
}

export interface Inside {
  pid: number;
  command: string;
}

/** Live processes with their working directory at or below `path` (Linux; elsewhere nobody can be asked cheaply). */
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
      // Gone, a zombie, or another user's, who could not work in our directory either.
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
