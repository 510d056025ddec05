/** For tests of single commands: a stand-in for the daemon that ends with its test, and what it answers. */
import type { ErrorDetails } from "../../contract/errors.ts";
import { onTestFinished } from "vitest";
import type { ProjectJson } from "../../contract/project.ts";
import { sessionOf, standIn, type Script, type StandIn } from "../test-support/stand-in.ts";

export async function daemon(script: Script | null): Promise<StandIn> {
  const made = await standIn(script);
  onTestFinished(() => made.close());
  return made;
}

export const projectOf = (id: string, path: string): ProjectJson => ({
  id,
  path,
  prefix: id,
  defaultBranch: "main",
  agent: "claude",
  kind: "terminal",
  tracker: null,
  configFile: null,
  sessions: 0,
});
export const verbResponse = (id: string, more = {}): unknown => ({
  session: sessionOf({ id }),
  remaining: [],
  done: true,
  notes: [],
  ...more,
});
export const failure = (
  status: number,
  code: string,
  message: string,
  hint: string | null = null,
  details: ErrorDetails = {},
): Script[string] => ({
  status,
  answer: { error: { code, message, hint, details } },
});
