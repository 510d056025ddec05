/** Builds commands from the contract's operations, so that a plain verb is one row of the index. */
import type { CallableOperation, CallOptions } from "../../client/client.ts";
import { operation as described, type Output } from "../../contract/operations.ts";
import {
  chatArgument,
  type CommandEntry,
  type IndexEntry,
  type Input,
  jsonOption,
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
      options: [noWaitOption, jsonOption],
      examples: examples ?? [[lowerFirst(text), `holdfast ${path} ma-12`]],
      ...(notes === undefined ? {} : { notes }),
      daemon: "starts",
      run: (context, input) => runVerb(context, input, row),
    };
  };
  return { name: lastWord(path), summary: text, load };
}

export interface OperationRow<R extends CallableOperation> extends Pick<
  CommandEntry,
  "arguments" | "options" | "examples" | "notes" | "fails"
> {
  /** Parameters, query and body; by default the first argument is the `id` of the path. */
  request?: (input: Input) => CallOptions<R>;
  /** The text to print without --json; null prints nothing. */
  print: (response: Output<R>, context: Context, input: Input) => string | null;
}

/** A command that calls one operation and prints the response. */
export function operationCommand<R extends CallableOperation>(
  operation: R,
  { request, print, options = [], ...entry }: OperationRow<R>,
): CommandEntry {
  return {
    ...entry,
    options: [...options, jsonOption],
    daemon: "starts",
    async run(context, input) {
      const response = await context.call(
        operation,
        request?.(input) ?? ({ params: { id: input.arg(0) } } as CallOptions<R>),
      );
      const text = input.flag("json") ? null : print(response, context, input);
      if (input.flag("json")) context.json(response);
      else if (text !== null) context.out(text);
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
