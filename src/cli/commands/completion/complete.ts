import { builtInIds } from "../../../agents/registry.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, type Completes, type IndexEntry, optionsOf } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { index } from "../index.ts";

export const command: CommandEntry = {
  arguments: [{ name: "words", description: "Command line so far", optional: true, variadic: true, mayBeEmpty: true }],
  examples: [["complete a session's id", "holdfast complete -- session kill ma-"]],
  daemon: "alone",
  json: false,
  async run(context, input) {
    const found = await completions(index, input.args, (what) => names(context, what));
    if (found.length === 0) return;
    context.out(found.map(({ word, description }) => `${clean(word)}\t${clean(description)}`.trimEnd()).join("\n"));
  },
};

/** A shell must not hang on TAB or print errors into the command line: failures yield no candidates. */
async function names(context: Context, what: Completes): Promise<readonly Candidate[]> {
  try {
    switch (what) {
      case "file":
        return [{ word: ":files", description: "" }];
      case "directory":
        return [{ word: ":directories", description: "" }];
      case "session":
        return (await context.call("sessions")).map(({ id, status, title }) => ({
          word: id,
          description: `${status} ${title}`,
        }));
      case "chat":
        return (await context.call("sessions"))
          .filter(({ kind }) => kind === "chat")
          .map(({ id, status, title }) => ({ word: id, description: `${status} ${title}` }));
      case "request":
        return (await context.call("sessions")).flatMap(({ id, permissions }) =>
          permissions.map(({ requestId, title }) => ({ word: requestId, description: `${id}: ${title}` })),
        );
      case "project":
        return (await context.call("projects")).map(({ id, path }) => ({ word: id, description: path }));
      case "trash":
        return (await context.call("trash")).map(({ id, session }) => ({ word: id, description: session }));
      case "device":
        return (await context.call("devices")).map(({ id, name }) => ({ word: id, description: name }));
      case "agent": {
        // The daemon knows the user's own agents as well.
        const known = await context.call("settings").catch(() => null);
        const offered = known?.agents ?? builtInIds.map((id) => ({ id, name: "" }));
        const named = new Map(offered.map(({ id, name }) => [id, name]));
        return [...named].map(([word, description]) => ({ word, description }));
      }
      default:
        return what satisfies never;
    }
  } catch {
    return [];
  }
}

interface Candidate {
  word: string;
  description: string;
}

type Names = (what: Completes) => Promise<readonly Candidate[]>;

async function completions(
  index: readonly IndexEntry[],
  words: readonly string[],
  names: Names,
): Promise<readonly Candidate[]> {
  const [word = "", ...rest] = words;
  const last = words.at(-1) ?? "";
  // bash passes the = of --kind=… as a word, and the text behind it as the next one.
  const typed = last === "=" && words.length > 1 ? "" : last;
  if (words.length <= 1) {
    const commands = index.filter((line) => !("hidden" in line));
    return starting(
      typed,
      commands.map(({ name, summary }) => ({ word: name, description: summary })),
    );
  }
  const line = index.find(({ name }) => name === word);
  if (line === undefined) return [];
  if ("group" in line) return completions(line.group, rest, names);
  return starting(typed, await ofCommand(await line.load(), rest, names));
}

async function ofCommand(entry: CommandEntry, words: readonly string[], names: Names): Promise<readonly Candidate[]> {
  const options = optionsOf(entry);
  const word = words.at(-1) ?? "";
  const typed = word === "=" ? "" : word;
  const before = words.slice(0, -1).filter((one) => one !== "=");
  const named = (option: string | undefined) =>
    options.find(({ long, short }) => option === `--${long}` || (short !== undefined && option === `-${short}`));
  const pending = named(before.at(-1));
  if (pending?.value !== undefined) return ofValue(pending, names);
  const [, flag] = /^(--[^=]+)=/.exec(typed) ?? [];
  const given = named(flag);
  if (flag !== undefined && given?.value !== undefined) {
    return (await ofValue(given, names)).map((value) => ({ ...value, word: `${flag}=${value.word}` }));
  }
  if (typed.startsWith("-")) {
    const unused = options.filter(({ long }) => !before.includes(`--${long}`));
    return unused.map(({ long, description }) => ({ word: `--${long}`, description }));
  }
  const position = before.filter(
    (one, at) => !one.startsWith("-") && named(before[at - 1])?.value === undefined,
  ).length;
  const accepted = entry.arguments ?? [];
  const last = accepted.at(-1);
  const argument = accepted[position] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? [] : ofValue(argument, names);
}

async function ofValue(
  { choices, completes }: { choices?: readonly string[]; completes?: Completes },
  names: Names,
): Promise<readonly Candidate[]> {
  if (choices !== undefined) return choices.map((word) => ({ word, description: "" }));
  return completes === undefined ? [] : names(completes);
}

function starting(typed: string, candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(typed) || word.startsWith(":"));
}
