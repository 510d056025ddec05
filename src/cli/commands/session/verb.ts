/** What the verbs on one session have in common: the call, its failures in known words, and what to say afterwards. */
import { HoldfastError } from "../../../contract/error.ts";
import type { VerbAnswer } from "../../../contract/wire.ts";
import type { BodyOf } from "../../../client/client.ts";
import type { Context } from "../../context.ts";
import type { Input } from "../../input.ts";
import { clean } from "../../render/text.ts";

export type VerbName =
  | ("stop" | "kill" | "restore" | "archive" | "unarchive" | "wake" | "delete" | "snooze")
  | ("acpKill" | "acpRestart" | "convert");

export interface VerbWords {
  /** `Session X killed.` */
  done: string;
  /** With --no-wait: the intent is written, the rest follows. */
  recorded: string;
  /** `Failed to … session X`, where the route's name is no word. */
  verb?: string;
}

export async function runVerb(
  context: Context,
  input: Input,
  verb: VerbName,
  words: VerbWords,
  body: Record<string, unknown> = {},
): Promise<VerbAnswer> {
  const id = input.arg(0);
  const wait = !input.flag("no-wait");
  const answer = await callVerb(context, verb, id, { ...body, ...(wait ? {} : { wait }) }, words.verb);
  if (input.flag("json")) context.json(verbJson(answer));
  else sayVerb(context, id, verb, words, { wait, answer });
  return answer;
}

/** A command run from inside the worktree that it moves must not count as a process that uses it. */
export function leaveDirectory(): void {
  try {
    process.chdir("/");
  } catch {
    // Not possible in a thread of a test.
  }
}

export function sayVerb(
  context: Context,
  id: string,
  verb: VerbName,
  words: VerbWords,
  { wait, answer }: { wait: boolean; answer: VerbAnswer },
): void {
  const waitedInVain = wait && !answer.done && ending.has(verb);
  if (waitedInVain) context.out(`Session ${id} ${words.recorded}; not everything has ended yet:`);
  else context.out(`Session ${id} ${wait && answer.done ? words.done : words.recorded}.`);
  for (const { pid, what } of answer.remaining) context.out(`  Still ending: ${clean(what)} (pid ${pid})`);
}

const ending: ReadonlySet<VerbName> = new Set(["stop", "kill", "delete", "archive", "snooze", "acpKill", "convert"]);

/** The session as every other command prints it, and beside its fields what became of the verb. */
export function verbJson({ session, done, remaining, notes }: VerbAnswer): Record<string, unknown> {
  return { ...session, done, remaining, notes };
}

export async function callVerb(
  context: Context,
  verb: VerbName,
  id: string,
  body: Record<string, unknown>,
  word: string = verb,
): Promise<VerbAnswer> {
  if (verb === "kill" || verb === "delete") leaveDirectory();
  try {
    return await context.call(verb, { params: { id }, body: body as BodyOf<typeof verb> });
  } catch (error) {
    throw await verbFailure(context, word, id, error);
  }
}

/** Sentences that already say what could not be done, and to what. */
const whole = /^(Cannot |Workspace missing: )/;

export async function verbFailure(context: Context, verb: string, id: string, error: unknown): Promise<unknown> {
  if (!(error instanceof HoldfastError) || error.code === "unreachable" || whole.test(error.message)) return error;
  const missing = error.code === "not-found" && /session not found/i.test(error.message);
  const hint = missing ? await nearestSession(context, id) : error.hint;
  return new HoldfastError(
    error.code,
    `Failed to ${verb} session ${clean(id)}: ${missing ? "Session not found" : error.message}`,
    hint === null ? { cause: error } : { hint, cause: error },
  );
}

async function nearestSession(context: Context, id: string): Promise<string> {
  const list = "List sessions: holdfast session ls --include-terminated";
  const { nearest } = await import("../../../base/nearest.ts");
  const ids = await context.call("sessions").then(
    (sessions) => sessions.map((session) => session.id),
    () => [],
  );
  const near = nearest(id, ids);
  return near === null ? list : `Did you mean ${near}? ${list}`;
}

export function sayNotes(context: Context, input: Input, answer: VerbAnswer): void {
  if (input.flag("json")) return;
  for (const note of answer.notes) context.out(`  ${clean(note)}`);
}
