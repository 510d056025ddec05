/** Candidates for the last of the words typed so far. Names are asked for only where they fit. */
import { type Completes, type CommandEntry, type IndexEntry, optionsOf } from "../../command.ts";

export interface Candidate {
  word: string;
  description: string;
}

export type Names = (what: Completes) => Promise<readonly Candidate[]>;

export async function completions(
  index: readonly IndexEntry[],
  words: readonly string[],
  names: Names,
): Promise<readonly Candidate[]> {
  const [word = "", ...rest] = words;
  const last = words.at(-1) ?? "";
  // bash gives the = of --kind=… as a word; what is typed behind it begins the next one.
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
  return starting(typed, await ofCommand((await line.load()).command, rest, names));
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
  const place = before.filter((one, at) => !one.startsWith("-") && named(before[at - 1])?.value === undefined).length;
  const wanted = entry.arguments ?? [];
  const last = wanted.at(-1);
  const argument = wanted[place] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? [] : ofValue(argument, names);
}

async function ofValue(
  { choices, completes }: { choices?: readonly string[]; completes?: Completes },
  names: Names,
): Promise<readonly Candidate[]> {
  if (choices !== undefined) return choices.map((word) => ({ word, description: "" }));
  return completes === undefined || completes === "none" ? [] : names(completes);
}

function starting(typed: string, candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ word }) => word.startsWith(typed) || word.startsWith(":"));
}
