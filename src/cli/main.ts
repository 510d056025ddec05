/** From the command line to an exit code. Nothing is loaded that the command at hand does not use. */
import { createContext, type Context } from "./context.ts";
import type { CommandEntry, IndexEntry } from "./command.ts";
import { index } from "./commands/index.ts";
import { HoldfastError } from "../contract/error.ts";
import type { Input } from "./input.ts";
import { jsonText } from "./render/json.ts";
import { leanParse } from "./lean-parse.ts";
import type { UnknownCommand } from "./errors.ts";
import { standardIo } from "./standard-io.ts";

export async function main(dist: string): Promise<void> {
  const context = createContext({ env: process.env, cwd: process.cwd(), dist, io: standardIo });
  const code = await dispatch(process.argv.slice(2), context);
  // Everything is written; waiting for idle handles would only take time.
  process.exit(code);
}

export async function dispatch(typed: readonly string[], context: Context): Promise<number> {
  const argv = asOption(typed);
  if (!wantsJson(argv)) return attempt(argv, context);
  // Mistakes in the command line are told line by line; with --json they are one object like every other failure.
  const lines: string[] = [];
  const code = await attempt(argv, context, { out: context.out, err: (text) => void lines.push(text) });
  const [message, ...hints] = lines;
  if (message !== undefined) {
    context.err(jsonText({ error: { code: "usage", message, hint: hints.join("\n") || null } }));
  }
  return code;
}

/** `mistakes` is where wrong usage is printed. */
async function attempt(
  argv: readonly string[],
  context: Context,
  mistakes: Pick<Context, "out" | "err"> = context,
): Promise<number> {
  try {
    const found = find(index, argv);
    if (found.is === "unknown") return (await import("./errors.ts")).sayUnknown(mistakes, found);
    if (found.is === "command") {
      const { command } = await found.line.load();
      const input = leanParse(command, found.rest);
      if (input !== null) return await run(command, input, context);
    }
    const { commanderParse } = await import("./parse.ts");
    const parsed = await commanderParse(index, argv, mistakes);
    return parsed.parsed === "done" ? parsed.exitCode : await run(parsed.entry, parsed.input, context);
  } catch (error) {
    const { helpHint, sayFailure } = await import("./errors.ts");
    return sayFailure(context, error, { help: helpHint(index, argv), json: wantsJson(argv) });
  }
}

/** Read from the words themselves: what is wrong may be the command line. */
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

async function run(command: CommandEntry, input: Input, context: Context): Promise<number> {
  const empty = command.arguments?.find(({ variadic, mayBeEmpty }, at) => {
    if (mayBeEmpty === true) return false;
    const given = variadic === true ? input.args.slice(at) : input.args.slice(at, at + 1);
    return given.length > 0 && given.every((word) => word === "");
  });
  if (empty !== undefined) {
    throw new HoldfastError("usage", `The argument ${empty.name} is empty.`);
  }
  context.noStart = input.flag("no-start");
  context.mayStart = command.daemon === "starts" && !input.flag("no-start");
  return (await command.run(context, input)) ?? 0;
}

type Found =
  | { is: "command"; line: Extract<IndexEntry, { load: unknown }>; rest: readonly string[] }
  | ({ is: "unknown" } & UnknownCommand)
  /** Help, options in front of the command, or nothing at all. */
  | { is: "other" };

function find(lines: readonly IndexEntry[], argv: readonly string[], path = "holdfast"): Found {
  const [word, ...rest] = argv;
  if (word === undefined || word.startsWith("-") || word === "help") return { is: "other" };
  const line = lines.find(({ name }) => name === word);
  if (line === undefined) {
    return { is: "unknown", path, word, rest, known: lines.map(({ name }) => name), groups: groupsOf(lines) };
  }
  return "group" in line ? find(line.group, rest, `${path} ${word}`) : { is: "command", line, rest };
}

/** Groups whose commands people look for at the top, the likeliest first. */
function groupsOf(lines: readonly IndexEntry[]): { name: string; commands: string[] }[] {
  return ["session", "acp", "project", "trash", "service"].flatMap((group) => {
    const line = lines.find(({ name }) => name === group);
    return line !== undefined && "group" in line ? [{ name: group, commands: line.group.map(({ name }) => name) }] : [];
  });
}
