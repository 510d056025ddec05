/** Builds commands from the contract's operations, so that a plain verb is one row of the index. */
import type { CallableOperation, CallOptions } from "../../client/client.ts";
import { operation as described, type Output } from "../../contract/operations.ts";
import { plainVerbNames, type PlainVerb } from "../../contract/session.ts";
import { verbs } from "../../model/verbs.ts";
import {
  chatArgument,
  type CommandEntry,
  type IndexEntry,
  type Input,
  noWaitOption,
  sessionsArgument,
} from "../command.ts";
import type { Context } from "../context.ts";
import type { SessionVerb } from "./session/verb.ts";

/** Loads a command's code when it is called; `key` names the export. */
export function lazy(name: string, summary: string, load: () => Promise<{ command: CommandEntry }>): IndexEntry;
export function lazy<K extends string>(
  name: string,
  summary: string,
  load: () => Promise<Record<K, CommandEntry>>,
  key: K,
): IndexEntry;
export function lazy(
  name: string,
  summary: string,
  load: () => Promise<Record<string, CommandEntry>>,
  key = "command",
): IndexEntry {
  return { name, summary, load: async () => (await load())[key]! };
}

type Help = Pick<CommandEntry, "notes"> & Partial<Pick<CommandEntry, "examples">> & { summary?: string };

/** A verb on sessions; `acp` verbs accept one chat session. The summary is the operation's unless the row has its own. */
export function verb(path: string, { summary, examples, notes, ...row }: SessionVerb & Help): IndexEntry {
  const text = summary ?? described(row.operation).summary;
  const load = async (): Promise<CommandEntry> => {
    const { runVerb } = await import("./session/verb.ts");
    return {
      arguments: [path.startsWith("acp ") ? chatArgument : sessionsArgument],
      options: [noWaitOption],
      examples: examples ?? [[lowerFirst(text), `holdfast ${path} ma-12`]],
      ...(notes === undefined ? {} : { notes }),
      run: (context, input) => runVerb(context, input, row),
    };
  };
  return { name: lastWord(path), summary: text, load };
}

/** `session stop` and the like: what the verb does and how it ends is known from the contract and the model. */
export function plainVerb(name: PlainVerb, help: Help = {}): IndexEntry {
  const { done, endsWith } = verbs[name];
  return verb(`session ${name}`, {
    operation: name,
    done,
    ...(endsWith === "up" ? { starts: "session" } : {}),
    ...help,
  });
}

/** Adds an entry for each verb that has none. */
export function withPlainVerbs(entries: readonly IndexEntry[]): IndexEntry[] {
  const missing = plainVerbNames.filter((verb) => entries.every(({ name }) => name !== verb));
  return [...entries, ...missing.map((name) => plainVerb(name))];
}

export interface OperationRow<R extends CallableOperation> extends Pick<
  CommandEntry,
  "arguments" | "options" | "examples" | "notes" | "fails"
> {
  /** By default the first argument is the `id` of the path. */
  request?: (input: Input, context: Context) => CallOptions<R> | Promise<CallOptions<R>>;
  /** The text to print without --json; null prints nothing. */
  print: (response: Output<R>, context: Context, input: Input) => string | readonly string[] | null;
  /** Whether the text goes to stderr and the command exits 1. */
  hasFailed?: (response: Output<R>) => boolean;
}

/** A command that calls one operation and prints the response. */
export function operationCommand<R extends CallableOperation>(
  operation: R,
  { request, print, hasFailed, ...entry }: OperationRow<R>,
): CommandEntry {
  return {
    ...entry,
    async run(context, input) {
      const byId = { params: { id: input.arg(0) } } as CallOptions<R>;
      const response = await context.call(operation, (await request?.(input, context)) ?? byId);
      return context.print(response, print(response, context, input), hasFailed?.(response));
    },
  };
}

/** The same as a row of the index, with the operation's summary unless the row has its own. */
export function operation<R extends CallableOperation>(
  path: string,
  name: R,
  { summary, ...row }: OperationRow<R> & { summary?: string },
): IndexEntry {
  const load = (): Promise<CommandEntry> => Promise.resolve(operationCommand(name, row));
  return { name: lastWord(path), summary: summary ?? described(name).summary, load };
}

function lastWord(path: string): string {
  return path.slice(path.lastIndexOf(" ") + 1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
