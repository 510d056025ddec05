/** From the command line to an exit code. Loads only the called command. */
import { version } from "../base/program.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { CommandEntry, IndexEntry, Input } from "./command.ts";
import { index } from "./commands/index.ts";
import { type Context, createContext, standardIo } from "./context.ts";
import { parseInput } from "./parse.ts";

export async function main(dist: string): Promise<void> {
  const context = createContext({ env: process.env, cwd: process.cwd(), dist, io: standardIo });
  const code = await dispatch(process.argv.slice(2), context);
  // Everything is written; waiting for idle handles would only take time.
  process.exit(code);
}

export async function dispatch(typed: readonly string[], context: Context): Promise<number> {
  const argv = asOption(typed);
  const found = find(argv);
  try {
    return await run(found, context);
  } catch (error) {
    const { printFailure } = await import("./errors.ts");
    return printFailure(context, error, { help: `See ${found.path} --help.`, json: wantsJson(argv) });
  }
}

/** Read from the raw words, because a mistake may be in the command line itself. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? argv.length : end).includes("--json");
}

/** `help session ls` and `session help ls` mean `session ls --help`; nothing at all means `--help`. */
function asOption(argv: readonly string[]): readonly string[] {
  if (argv.length === 0) return ["--help"];
  if (argv.length === 1 && (argv[0] === "version" || argv[0] === "-v")) return ["--version"];
  const at = argv.indexOf("help");
  const inGroup = at === 1 && index.some((line) => line.name === argv[0] && "group" in line);
  return at === 0 || inGroup ? [...argv.slice(0, at), ...argv.slice(at + 1), "--help"] : argv;
}

export interface Found {
  /** The words that were recognized, `holdfast` first. */
  path: string;
  /** The last line of the index that matched; null for the program itself. */
  line: IndexEntry | null;
  rest: readonly string[];
}

function find(argv: readonly string[]): Found {
  let found: Found = { path: "holdfast", line: null, rest: argv };
  let lines = index;
  for (;;) {
    const [word, ...rest] = found.rest;
    const line = lines.find(({ name }) => name === word);
    if (line === undefined) return found;
    found = { path: `${found.path} ${line.name}`, line, rest };
    if (!("group" in line)) return found;
    lines = line.group;
  }
}

async function run(found: Found, context: Context): Promise<number> {
  const { path, line, rest } = found;
  if (line !== null && "load" in line) {
    const command = await line.load();
    const input = parseInput(command, rest);
    if (input !== null) return runCommand(command, input, context);
    const { commandHelp } = await import("./help.ts");
    context.out(commandHelp(path, line.summary, command, columnsOf(context)));
    return 0;
  }
  const [word] = rest;
  if (word !== undefined && !word.startsWith("-")) throw (await import("./errors.ts")).unknownCommand(index, found);
  if (line === null && (word === "--version" || word === "-V")) {
    context.out(version);
    return 0;
  }
  const isHelp = word === "--help" || word === "-h";
  if (word !== undefined && !isHelp) throw new HoldfastError("usage", `Unknown option '${word}'`);
  const { groupHelp, programHelp } = await import("./help.ts");
  const columns = columnsOf(context);
  // A group without a command is wrong usage; its help is the next step.
  (isHelp ? context.out : context.err)(line === null ? programHelp(index, columns) : groupHelp(path, line, columns));
  return isHelp ? 0 : 2;
}

function columnsOf(context: Context): number {
  return context.terminalSize()?.columns ?? 80;
}

async function runCommand(command: CommandEntry, input: Input, context: Context): Promise<number> {
  context.noStart = input.flag("no-start");
  context.mayStart = command.daemon !== "alone" && !context.noStart;
  context.useJson(input.flag("json"));
  try {
    return (await command.run(context, input)) ?? 0;
  } catch (error) {
    if (command.fails === undefined) throw error;
    const { sessionFailure } = await import("./commands/session/verb.ts");
    throw await sessionFailure(context, command.fails, input.arg(0), error);
  }
}
