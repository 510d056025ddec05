/** What is really started for a chat agent, and what it finds there: its program, its environment, its files. */
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../base/find-program.ts";
import type { ChatAgent } from "../ports/agents.ts";

/** argv with the program in place of a script that would only start it: one process less, and none that signals miss. */
export function commandOf(chat: ChatAgent, path: string | undefined): string[] {
  const [script = "", ...rest] = chat.command;
  const found = chat.program === undefined ? null : findProgram(script, path);
  const program = found === null ? null : chat.program!(realpathSync(found));
  return program === null ? chat.command : [program, ...rest];
}

/** `{hooks}` is the launch's own directory, as for terminal agents. */
export function environmentOf(chat: ChatAgent, directory: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(chat.env).map(([name, value]) => [name, value.replaceAll("{hooks}", () => directory)]),
  );
}

export function writeFiles(chat: ChatAgent, directory: string): void {
  for (const { name, text, executable = false } of chat.files ?? []) {
    writeFileSync(join(directory, name), text, { mode: executable ? 0o700 : 0o600 });
  }
}
