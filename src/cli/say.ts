/** Mistakes and failures in words: what happened, and on the next line what to do. */
import { HoldfastError } from "../protocol/error.ts";
import type { Context } from "./context.ts";
import type { IndexEntry } from "./entry-types.ts";
import { nearest } from "../base/nearest.ts";
import { clean } from "./render/text.ts";

export interface UnknownCommand {
  /** The words in front of it, `holdfast` first. */
  path: string;
  word: string;
  known: string[];
}

export function sayUnknown(context: Context, { path, word, known }: UnknownCommand): number {
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

export function sayFailure(context: Context, error: unknown, help: string): number {
  if (error instanceof HoldfastError) {
    const wrongUse = error.code === "usage";
    context.err(error.message);
    if (error.hint !== null || wrongUse) context.err(error.hint ?? help);
    return wrongUse ? 2 : 1;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  context.err(message);
  // What the system refused (no space, no permission) explains itself; anything else is a bug, and its place matters.
  if (code === undefined && error instanceof Error) context.err(error.stack ?? "");
  return 1;
}
