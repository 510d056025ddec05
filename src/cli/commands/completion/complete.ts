import { builtInIds } from "../../../agents/registry.ts";
import type { SessionJson } from "../../../contract/session.ts";
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
  const rows = await sources[what](context).catch(() => []);
  return rows.map(([word, description]) => ({ word, description }));
}

type Rows = readonly (readonly [word: string, description: string])[];

const sessionRows = async ({ call }: Context, isListed: (session: SessionJson) => boolean): Promise<Rows> =>
  (await call("sessions")).filter(isListed).map(({ id, status, title }) => [id, `${status} ${title}`]);

const sources: Record<Completes, (context: Context) => Promise<Rows>> = {
  file: () => Promise.resolve([[":files", ""]]),
  directory: () => Promise.resolve([[":directories", ""]]),
  session: (context) => sessionRows(context, () => true),
  chat: (context) => sessionRows(context, ({ kind }) => kind === "chat"),
  request: async ({ call }) =>
    (await call("sessions")).flatMap(({ id, permissions }) =>
      permissions.map(({ requestId, title }) => [requestId, `${id}: ${title}`] as const),
    ),
  project: async ({ call }) => (await call("projects")).map(({ id, path }) => [id, path]),
  trash: async ({ call }) => (await call("trash")).map(({ id, session }) => [id, session]),
  device: async ({ call }) => (await call("devices")).map(({ id, name }) => [id, name]),
  // The daemon knows the user's own agents as well.
  agent: async ({ call }) => {
    const known = await call("settings").catch(() => null);
    return [
      ...new Map((known?.agents ?? builtInIds.map((id) => ({ id, name: "" }))).map(({ id, name }) => [id, name])),
    ];
  },
};

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
