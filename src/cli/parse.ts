/** Reads the words behind a command's name by the command's own entry. Node's parseArgs knows every spelling of an option. */
import { parseArgs } from "node:util";
import { nearest } from "../base/nearest.ts";
import { HoldfastError } from "../contract/errors.ts";
import { type ArgumentEntry, type CommandEntry, type Given, Input, type OptionEntry, optionsOf } from "./command.ts";

/** Null if help was requested. Throws a usage error for everything the entry does not allow. */
export function parseInput(entry: CommandEntry, argv: readonly string[]): Input | null {
  const known = optionsOf(entry);
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(known.map(parseArgsOption)),
    strict: false,
    tokens: true,
  });
  if (tokens.some((token) => token.kind === "option" && (token.name === "help" || token.name === "h"))) return null;
  const options = new Map<string, Given>();
  const args: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") args.push(token.value);
    if (token.kind !== "option") continue;
    const option = known.find(({ long }) => long === token.name);
    if (option === undefined) throw unknownOption(token.rawName, known);
    options.set(option.long, given(option, token.value, options.get(option.long)));
  }
  checkArguments(entry.arguments ?? [], args);
  return new Input(args, options);
}

function parseArgsOption({
  long,
  short,
  value,
}: OptionEntry): [string, { type: "string" | "boolean"; short?: string }] {
  return [long, { type: value === undefined ? "boolean" : "string", ...(short === undefined ? {} : { short }) }];
}

function given(option: OptionEntry, value: string | undefined, before: Given | undefined): Given {
  const { long, value: name, choices, many } = option;
  if (name === undefined) {
    if (value !== undefined) throw new HoldfastError("usage", `Option '--${long}' does not accept a value.`);
    return true;
  }
  if (value === undefined) throw new HoldfastError("usage", `Option '--${long}' requires a value: <${name}>.`);
  if (choices !== undefined && !choices.includes(value)) throw notAChoice(`--${long}`, value, choices);
  return many === true ? [...(typeof before === "object" ? before : []), value] : value;
}

function checkArguments(entries: readonly ArgumentEntry[], args: readonly string[]): void {
  const missing = entries.find(({ optional }, at) => optional !== true && at >= args.length);
  if (missing !== undefined) throw new HoldfastError("usage", `Missing required argument '${missing.name}'`);
  if (args.length > entries.length && entries.at(-1)?.variadic !== true) {
    throw new HoldfastError("usage", `Too many arguments: expected ${entries.length}, got ${args.length}`);
  }
  for (const [at, { name, choices, variadic, mayBeEmpty }] of entries.entries()) {
    const words = variadic === true ? args.slice(at) : args.slice(at, at + 1);
    if (mayBeEmpty !== true && words.length > 0 && words.every((word) => word === "")) {
      throw new HoldfastError("usage", `The argument ${name} is empty.`);
    }
    const wrong = choices === undefined ? undefined : words.find((word) => !choices.includes(word));
    if (wrong !== undefined) throw notAChoice(name, wrong, choices ?? []);
  }
}

function notAChoice(name: string, value: string, choices: readonly string[]): HoldfastError {
  return new HoldfastError("usage", `${name} must be one of ${choices.join(", ")}, not '${value}'`);
}

export function unknownOption(name: string, known: readonly OptionEntry[]): HoldfastError {
  const near = nearest(
    name,
    known.map(({ long }) => `--${long}`),
  );
  return new HoldfastError(
    "usage",
    `Unknown option '${name}'`,
    near === null ? {} : { hint: `(Did you mean ${near}?)` },
  );
}
