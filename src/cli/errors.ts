/** Mistakes and failures in words: what happened, and on the next line what to do. */
import { HoldfastError } from "../contract/error.ts";
import type { Context } from "./context.ts";
import type { IndexEntry } from "./command.ts";
import { nearest } from "../base/nearest.ts";
import { jsonText } from "./render/json.ts";
import { clean, inert } from "./render/text.ts";
import { quoteShellWord } from "../model/text.ts";

export interface UnknownCommand {
  /** The words in front of it, `holdfast` first. */
  path: string;
  word: string;
  /** What was typed behind it. */
  rest: readonly string[];
  known: string[];
  /** Groups below this place. */
  groups: readonly { name: string; commands: readonly string[] }[];
}

export function sayUnknown(context: Pick<Context, "err">, { path, word, rest, known, groups }: UnknownCommand): number {
  const group = groups.find(({ commands }) => commands.includes(word));
  if (group !== undefined) {
    context.err(`Unknown command: ${clean(word)}`);
    context.err(`Did you mean: ${[path, group.name, word, ...rest.map(quoteShellWord)].join(" ")}`);
    return 2;
  }
  const near = nearest(word, known);
  context.err(`Unknown command: ${`${path} ${clean(word)}`.replace(/^holdfast /, "")}`);
  context.err(near === null ? `See ${path} --help.` : `Did you mean ${path} ${near}?`);
  return 2;
}

/** Where the command that was called is explained. */
export function helpHint(index: readonly IndexEntry[], argv: readonly string[]): string {
  const path = ["holdfast"];
  let lines = index;
  for (const word of argv) {
    const line = lines.find(({ name }) => name === word);
    if (line === undefined) break;
    path.push(word);
    lines = "group" in line ? line.group : [];
  }
  return `See ${path.join(" ")} --help.`;
}

export function sayFailure(context: Context, error: unknown, { help, json }: { help: string; json: boolean }): number {
  sayError(context, error, json, help);
  return error instanceof HoldfastError && error.code === "usage" ? 2 : 1;
}

/** With `--json` one line of JSON on stderr, `{"error": {code, message, hint}}`, as the API answers. */
export function sayError(context: Context, error: unknown, json: boolean, help?: string): void {
  if (error instanceof HoldfastError) {
    const hint = error.hint ?? (error.code === "usage" ? (help ?? null) : null);
    if (json) return context.err(jsonText({ error: { code: error.code, message: error.message, hint } }));
    // A message may quote what somebody else wrote.
    context.err(inert(error.message));
    if (hint !== null) context.err(inert(hint));
    return;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (json) return context.err(jsonText({ error: { code: "internal", message, hint: null } }));
  context.err(message);
  // What the system refused (no space, no permission) explains itself; anything else is a bug, and its place matters.
  if (code === undefined && error instanceof Error) context.err(error.stack ?? "");
}
