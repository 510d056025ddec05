/** Help for the program, a group of commands and a single command. */
import { type CommandEntry, type IndexEntry, type OptionEntry, optionsOf } from "./command.ts";

type Row = readonly [term: string, description: string];

const helpOption: OptionEntry = { long: "help", short: "h", description: "Show help" };
const versionOption: OptionEntry = { long: "version", short: "V", description: "Show version" };

const programExamples = `Examples:
  # set up the repository you are in, once
  $ holdfast init
  # start an agent in its own worktree
  $ holdfast spawn --prompt 'Fix the failing test'
  # list sessions and what they need
  $ holdfast session ls`;

/** `columns` is the width that descriptions are wrapped to. */
export function programHelp(index: readonly IndexEntry[], columns: number): string {
  return [
    "Usage: holdfast [options] [command]",
    "Keeps AI coding agents running, each in its own git worktree.",
    section("Options", [versionOption, helpOption].map(optionRow), columns),
    section("Commands", index.flatMap(commandRow), columns),
    programExamples,
  ].join("\n\n");
}

export function groupHelp(path: string, line: Extract<IndexEntry, { group: unknown }>, columns: number): string {
  return [
    `Usage: ${path} [options] [command]`,
    line.summary,
    section("Options", [optionRow(helpOption)], columns),
    section("Commands", line.group.flatMap(commandRow), columns),
    `Example:\n  $ ${line.example}`,
  ].join("\n\n");
}

export function commandHelp(path: string, summary: string, entry: CommandEntry, columns: number): string {
  const args = entry.arguments ?? [];
  const terms = args.map(({ name, optional, variadic }) => {
    const inner = variadic === true ? `${name}...` : name;
    return optional === true ? `[${inner}]` : `<${inner}>`;
  });
  const rows = args.map(({ name, description, choices }): Row => [name, withChoices(description, choices)]);
  return [
    ["Usage:", path, "[options]", ...terms].join(" "),
    summary,
    ...(rows.length === 0 ? [] : [section("Arguments", rows, columns)]),
    section("Options", [...optionsOf(entry), helpOption].map(optionRow), columns),
    ...(entry.notes === undefined ? [] : [entry.notes]),
    `Examples:\n${entry.examples.map(([what, line]) => `  # ${what}\n  $ ${line}`).join("\n")}`,
  ].join("\n\n");
}

function commandRow(line: IndexEntry): Row[] {
  return "hidden" in line ? [] : [[line.name, line.summary]];
}

function optionRow({ long, short, value, description, choices }: OptionEntry): Row {
  const term = `${short === undefined ? "" : `-${short}, `}--${long}${value === undefined ? "" : ` <${value}>`}`;
  return [term, withChoices(description, choices)];
}

function withChoices(description: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? description : `${description} (${choices.join(", ")})`;
}

function section(title: string, rows: readonly Row[], columns: number): string {
  const indent = Math.max(...rows.map(([term]) => term.length)) + 4;
  const lines = rows.map(([term, text]) => {
    const wrapped = wrap(text, Math.max(40, columns - indent)).join(`\n${" ".repeat(indent)}`);
    return `  ${term.padEnd(indent - 2)}${wrapped}`;
  });
  return `${title}:\n${lines.join("\n")}`;
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length + 1 > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
