/** What a command is: data for the parser, the help and the completion, and a function that runs it. */
import { HoldfastError } from "../contract/errors.ts";
import type { Context } from "./context.ts";

/** An option that was given: `true` for a flag, its value, or all its values. */
export type Given = string | true | readonly string[];

/** The parsed arguments and options of a command. */
export class Input {
  readonly args: readonly string[];
  readonly #options: ReadonlyMap<string, Given>;

  constructor(args: readonly string[], options: ReadonlyMap<string, Given>) {
    this.args = args;
    this.#options = options;
  }

  /** Required arguments are never missing: the parser checks that. */
  arg(index: number): string {
    return this.args[index] ?? "";
  }

  flag(long: string): boolean {
    return this.#options.has(long);
  }

  text(long: string): string | undefined {
    const value = this.#options.get(long);
    return typeof value === "string" ? value : undefined;
  }

  /** The values of those options that were given. */
  texts<Name extends string>(...names: readonly Name[]): { [K in Name]?: string } {
    const given = names.flatMap((name) => (this.text(name) === undefined ? [] : [[name, this.text(name)]]));
    return Object.fromEntries(given) as { [K in Name]?: string };
  }

  /** All values of a repeatable option. */
  list(long: string): readonly string[] {
    const value = this.#options.get(long);
    return typeof value === "object" ? value : [];
  }
}

/** The kind of value, for completion; without one, nothing is offered. */
export type Completes =
  | "session"
  | "chat"
  | "request"
  | "project"
  | "agent"
  | "trash"
  | "device"
  | "file"
  | "directory";

export interface ArgumentEntry {
  name: string;
  description: string;
  optional?: boolean;
  /** Accepts all remaining arguments. */
  variadic?: boolean;
  /** An empty string is a valid value: the start of a word to complete. */
  mayBeEmpty?: boolean;
  completes?: Completes;
  choices?: readonly string[];
}

export interface OptionEntry {
  /** Without the dashes; `no-…` is a flag like any other. */
  long: string;
  short?: string;
  /** Name of the value; an option without one is a flag. */
  value?: string;
  /** Repeatable; of any other option the last value counts. */
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
  /** Works without a daemon. By default a command starts it if it is not running, unless `--no-start`. */
  daemon?: "alone";
  /** The description of `--json`; false if the command has no such option. */
  json?: string | false;
  /** For `Failed to <fails> session <first argument>: …`; without it errors are printed unchanged. */
  fails?: string;
  /** Resolves to the exit code; undefined means 0. Failures are thrown. */
  run(context: Context, input: Input): Promise<number | void>;
}

/** A line of the index: enough to list the command; the entry is loaded when the command is called. */
export type IndexEntry =
  | { name: string; summary: string; hidden?: true; load: () => Promise<CommandEntry> }
  | { name: string; summary: string; example: string; group: readonly IndexEntry[] };

export const projectOption: OptionEntry = {
  long: "project",
  short: "p",
  value: "id",
  description: "Only this project",
  completes: "project",
};
const noStartOption: OptionEntry = {
  long: "no-start",
  description: "Fail if the daemon is not running, instead of starting it",
};
export const noWaitOption: OptionEntry = {
  long: "no-wait",
  description: "Return immediately, without waiting for the result",
};
export const yesOption: OptionEntry = { long: "yes", short: "y", description: "Skip the confirmation prompt" };
export const sessionArgument: ArgumentEntry = {
  name: "session",
  description: "Session id, e.g. ma-12",
  completes: "session",
};
export const sessionsArgument: ArgumentEntry = {
  ...sessionArgument,
  description: "Session id, e.g. ma-12; several are possible",
  variadic: true,
};
export const chatArgument: ArgumentEntry = { ...sessionArgument, completes: "chat" };
export const projectArgument: ArgumentEntry = {
  name: "id",
  description: "Project id, e.g. my-app",
  completes: "project",
};

export function optionsOf({ options = [], json = "Print JSON", daemon }: CommandEntry): readonly OptionEntry[] {
  const jsonOptions = json === false ? [] : [{ long: "json", description: json }];
  return [...options, ...jsonOptions, ...(daemon === "alone" ? [] : [noStartOption])];
}

/** The value of an option that must be an integer above 0. */
export function countOption(input: Input, long: string, shown: string, fallback: number): number {
  const text = input.text(long);
  if (text === undefined) return fallback;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new HoldfastError("usage", `${shown} must be a positive integer, not ${text}.`);
}
