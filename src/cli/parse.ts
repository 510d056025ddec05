/** Help, mistakes and every spelling that the lean parser leaves alone: commander, with only the called command built whole. */
import { Argument, Command, CommanderError, Option } from "commander";
import { version } from "../base/program.ts";
import { type CommandEntry, type IndexEntry, type OptionEntry, optionsOf } from "./command.ts";
import { type Given, Input } from "./input.ts";
import { helpHint } from "./errors.ts";

export type Parsed = { parsed: "run"; entry: CommandEntry; input: Input } | { parsed: "done"; exitCode: number };

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

/** The way of a first session. */
const programExamples = `Examples:
  # set up the repository you are in, once
  $ holdfast init
  # start an agent in a worktree of its own
  $ holdfast spawn --prompt 'Fix the failing test'
  # what runs, and what it needs
  $ holdfast session ls`;

export async function commanderParse(
  index: readonly IndexEntry[],
  argv: readonly string[],
  output: Output,
): Promise<Parsed> {
  let call: Parsed | undefined;
  const program = new Command("holdfast")
    .description("Keeps AI coding agents running, each in its own git worktree.")
    .version(version, "-V, --version", "print the version")
    .helpCommand("help [command]", "help for a command")
    .addHelpText("after", `\n${programExamples}\n`);
  quiet(program, output);
  await addCommands(program, index, argv, output, (entry, input) => {
    call = { parsed: "run", entry, input };
  });
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for, and the version; help because of a mistake has another code.
    if (error.exitCode === 0) return { parsed: "done", exitCode: 0 };
    // Help is its own next step, and a guess is one too.
    if (error.code !== "commander.help" && !error.message.includes("Did you mean")) {
      output.err(helpHint(index, argv));
    }
    return { parsed: "done", exitCode: 2 };
  }
  return call ?? { parsed: "done", exitCode: 0 };
}

/** Commander would write and exit by itself; the tests and the exit codes want neither. */
function quiet(command: Command, output: Output): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => output.out(text.replace(/\n$/, "")),
    writeErr: (text) => output.err(text.replace(/\n$/, "")),
    outputError: (text, write) => write(sentence(text)),
  });
}

/** `error: unknown option '--x'` becomes a sentence of ours. */
function sentence(text: string): string {
  const bare = text.replace(/^error: /, "");
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

async function addCommands(
  parent: Command,
  index: readonly IndexEntry[],
  argv: readonly string[],
  output: Output,
  run: (entry: CommandEntry, input: Input) => void,
): Promise<void> {
  // `help spawn` needs spawn built as much as `spawn --help` does.
  const words = argv.filter((word) => !word.startsWith("-") && word !== "help");
  for (const line of index) {
    const command = new Command(line.name).description(line.summary);
    quiet(command, output);
    if ("group" in line) {
      const called = words[0] === line.name;
      if (called) command.helpCommand("help [command]", "help for a command");
      command.addHelpText("after", `\nExample:\n  $ ${line.example}`);
      await addCommands(command, line.group, called ? words.slice(1) : [], output, run);
    } else if (words[0] === line.name) {
      build(command, (await line.load()).command, run);
    } else {
      command.allowUnknownOption().allowExcessArguments();
    }
    parent.addCommand(command, { hidden: "hidden" in line });
  }
}

function build(command: Command, entry: CommandEntry, run: (entry: CommandEntry, input: Input) => void): void {
  for (const { name, description, optional, variadic, choices } of entry.arguments ?? []) {
    const inner = variadic === true ? `${name}...` : name;
    const argument = new Argument(optional === true ? `[${inner}]` : `<${inner}>`, description);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  const options = optionsOf(entry);
  for (const option of options) command.addOption(commanderOption(option));
  const examples = entry.examples.map(([what, line]) => `  # ${what}\n  $ ${line}`).join("\n");
  const notes = entry.notes === undefined ? "" : `\n${entry.notes}\n`;
  command.addHelpText("after", `${notes}\nExamples:\n${examples}`);
  command.action(() => run(entry, new Input(command.args, readOptions(command, options))));
}

function commanderOption({ long, short, value, description, choices, many }: OptionEntry): Option {
  const flags = `${short === undefined ? "" : `-${short}, `}--${long}${value === undefined ? "" : ` <${value}>`}`;
  const option = new Option(flags, description);
  if (many === true) return option.argParser((one: string, before?: string[]) => [...(before ?? []), one]);
  return choices === undefined ? option : option.choices(choices);
}

function readOptions(command: Command, options: readonly OptionEntry[]): Map<string, Given> {
  const found = new Map<string, Given>();
  for (const { long } of options) {
    const negated = long.startsWith("no-");
    const key = (negated ? long.slice(3) : long).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const value: unknown = command.opts()[key];
    if (negated ? value === false : value === true) found.set(long, true);
    else if (typeof value === "string") found.set(long, value);
    else if (Array.isArray(value)) found.set(long, value as string[]);
  }
  return found;
}
