/** Prints failures: what happened, and on the next line what to do. */
import { nearest } from "../base/nearest.ts";
import { HoldfastError } from "../contract/errors.ts";
import { quoteShellWord } from "../model/text.ts";
import type { IndexEntry } from "./command.ts";
import type { Context } from "./context.ts";
import type { Found } from "./main.ts";
import { clean, inert, jsonText } from "./render/text.ts";

/** Groups whose commands are often called without the group's name, the likeliest first. */
const guessedGroups = ["session", "acp", "project", "trash", "service"];

export function unknownCommand(
  index: readonly IndexEntry[],
  { path, line, rest: [word = "", ...rest] }: Found,
): HoldfastError {
  const known = line !== null && "group" in line ? line.group : index;
  const name = clean(`${path} ${word}`.replace(/^holdfast /, ""));
  const group = guessedGroups.find((guess) =>
    known.some((one) => one.name === guess && "group" in one && one.group.some((command) => command.name === word)),
  );
  const near = nearest(
    word,
    known.map((one) => one.name),
  );
  const hint =
    group !== undefined
      ? `Did you mean: ${[path, group, word, ...rest.map(quoteShellWord)].join(" ")}`
      : near !== null
        ? `Did you mean ${path} ${near}?`
        : `See ${path} --help.`;
  return new HoldfastError("usage", `Unknown command: ${name}`, { hint });
}

export function printFailure(
  context: Context,
  error: unknown,
  { help, json }: { help: string; json: boolean },
): number {
  printError(context, error, json, help);
  return error instanceof HoldfastError && error.code === "usage" ? 2 : 1;
}

/** With `--json`, one line of JSON on stderr, `{"error": {code, message, hint}}`, like the API. */
export function printError(context: Context, error: unknown, json: boolean, help?: string): void {
  if (error instanceof HoldfastError) {
    const hint = error.hint ?? (error.code === "usage" ? (help ?? null) : null);
    if (json) return context.err(jsonText({ error: { code: error.code, message: error.message, hint } }));
    // A message may quote external text.
    context.err(inert(error.message));
    if (hint !== null) context.err(inert(hint));
    return;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (json) return context.err(jsonText({ error: { code: "internal", message, hint: null } }));
  context.err(message);
  // A system error (no space, no permission) explains itself; anything else is a bug, and its stack matters.
  if (code === undefined && error instanceof Error) context.err(error.stack ?? "");
}
