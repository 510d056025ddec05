/** What a command is: data that the parser, the help and the completion are made from, and a function that runs it. */
import type { Context } from "./context.ts";
import type { Input } from "./input.ts";

/** What a value names, so that completion can offer it. */
export type Completes =
  | "session"
  | "chat"
  | "request"
  | "project"
  | "agent"
  | "trash"
  | "device"
  | "file"
  | "directory"
  | "none";

export interface ArgumentEntry {
  name: string;
  description: string;
  optional?: boolean;
  /** Takes all that follow. */
  variadic?: boolean;
  /** Nothing at all is a value: what a shell completes at the start of a word. */
  mayBeEmpty?: boolean;
  completes?: Completes;
  choices?: readonly string[];
}

export interface OptionEntry {
  /** Without the dashes; `no-…` is a flag like any other. */
  long: string;
  short?: string;
  /** Name of its value; without one the option is a flag. */
  value?: string;
  /** May be given several times; of others the last one counts. */
  many?: true;
  description: string;
  choices?: readonly string[];
  completes?: Completes;
}

export interface CommandEntry {
  arguments?: readonly ArgumentEntry[];
  options?: readonly OptionEntry[];
  /** At least one; `[what it does, command line]`. */
  examples: readonly (readonly [string, string])[];
  /** More help, below the options. */
  notes?: string;
  /** `starts`: a daemon that is not running is started, unless `--no-start`. `alone`: the command does without. */
  daemon: "starts" | "alone";
  /** The exit code; nothing means 0. Failures are thrown. */
  run(context: Context, input: Input): Promise<number | void>;
}

/** A line of the index: enough for the list in the help; the rest is loaded when the command is called. */
export type IndexEntry =
  | { name: string; summary: string; hidden?: true; load: () => Promise<{ command: CommandEntry }> }
  | { name: string; summary: string; example: string; group: readonly IndexEntry[] };

export const jsonOption: OptionEntry = { long: "json", description: "print JSON" };
export const projectOption: OptionEntry = {
  long: "project",
  short: "p",
  value: "id",
  description: "only this project",
  completes: "project",
};
export const noStartOption: OptionEntry = {
  long: "no-start",
  description: "fail instead of starting the daemon when it is not running",
};
export const noWaitOption: OptionEntry = {
  long: "no-wait",
  description: "return once the intent is written down",
};
export const yesOption: OptionEntry = { long: "yes", short: "y", description: "do not ask" };
export const sessionArgument: ArgumentEntry = { name: "session", description: "its id", completes: "session" };
export const chatArgument: ArgumentEntry = { name: "session", description: "its id", completes: "chat" };

export function optionsOf(entry: CommandEntry): readonly OptionEntry[] {
  return entry.daemon === "starts" ? [...(entry.options ?? []), noStartOption] : (entry.options ?? []);
}
