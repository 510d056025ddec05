/** Mistakes and failures in words: what happened, and on the next line what to do. */
import { HoldfastError } from "../protocol/error.ts";
import type { Context } from "./context.ts";
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

export function sayFailure(context: Context, error: unknown): number {
  if (error instanceof HoldfastError) {
    context.err(error.message);
    if (error.hint !== null) context.err(error.hint);
    return error.code === "usage" ? 2 : 1;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  context.err(message);
  // What the system refused (no space, no permission) explains itself; anything else is a bug, and its place matters.
  if (code === undefined && error instanceof Error) context.err(error.stack ?? "");
  return 1;
}
