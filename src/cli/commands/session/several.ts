/** A verb on several sessions: side by side, each named in the output, exit code 1 if any failed. */
import type { VerbAnswer } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import type { ArgumentEntry } from "../../command.ts";
import { sessionArgument } from "../../command.ts";
import type { Input } from "../../input.ts";
import { callVerb, sayNotes, sayVerb, verbJson, type VerbName, type VerbWords } from "./verb.ts";

export const sessionsArgument: ArgumentEntry = {
  ...sessionArgument,
  description: "Session id, e.g. ma-12; several are possible",
  variadic: true,
};

/** Each one waits for its processes; more at the same time would only make all of them slow. */
const atOnce = 8;

export interface Outcome {
  id: string;
  result: { ok: true; answer: VerbAnswer } | { ok: false; error: unknown };
}

/** Calls `one` for each, in order, and reports each as soon as those before it are reported. */
export async function onEach(
  ids: readonly string[],
  one: (id: string) => Promise<VerbAnswer>,
  report: (outcome: Outcome) => void,
): Promise<Outcome[]> {
  const outcomes: (Outcome | undefined)[] = ids.map(() => undefined);
  let next = 0;
  let reported = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < ids.length; at = next++) {
      const id = ids[at]!;
      outcomes[at] = await one(id).then(
        (answer) => ({ id, result: { ok: true, answer } }),
        (error: unknown) => ({ id, result: { ok: false, error } }),
      );
      for (let done = outcomes[reported]; done !== undefined; done = outcomes[++reported]) report(done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, work));
  return outcomes.filter((outcome) => outcome !== undefined);
}

/** The sessions that were named, each once. */
export function namedSessions(input: Input): string[] {
  return [...new Set(input.args)];
}

/** Runs a verb on every session that was named. `say` prints what became of one; notes follow. */
export async function verbOnAll(
  context: Context,
  input: Input,
  verb: VerbName,
  words: VerbWords,
  { body = {}, ids = namedSessions(input), say, calls = context }: VerbOptions = {},
): Promise<number> {
  const wait = !input.flag("no-wait");
  const json = input.flag("json");
  const { sayError } = await import("../../errors.ts");
  const outcomes = await onEach(
    ids,
    (id) => callVerb(calls, verb, id, { ...body, ...(wait ? {} : { wait }) }, words.verb),
    ({ id, result }) => {
      if (!result.ok) {
        // A single failure is the command's own, with its exit code.
        if (ids.length > 1) sayError(context, result.error, json);
        return;
      }
      if (json) return;
      if (say === undefined) sayVerb(context, id, verb, words, { wait, answer: result.answer });
      else say(id, result.answer);
      sayNotes(context, input, result.answer);
    },
  );
  const [first] = outcomes;
  if (ids.length === 1 && first !== undefined && !first.result.ok) throw first.result.error;
  const answers = outcomes.flatMap(({ result }) => (result.ok ? [result.answer] : []));
  if (json) context.json(input.args.length === 1 ? verbJson(answers[0]!) : answers.map(verbJson));
  return answers.length === outcomes.length ? 0 : 1;
}

export interface VerbOptions {
  body?: Record<string, unknown>;
  ids?: readonly string[];
  say?: (id: string, answer: VerbAnswer) => void;
  /** Where it is called, if that is not the context itself. */
  calls?: Context;
}
