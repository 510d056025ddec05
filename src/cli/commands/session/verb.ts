/** Runs a verb on sessions: several at the same time, reported in order; exits 1 if any of them failed. */
import type { ClientInput } from "../../../contract/operations.ts";
import { HoldfastError, type ErrorReason } from "../../../contract/errors.ts";
import { Slots } from "../../../base/async.ts";
import type { PlainVerb, SessionJson, VerbResponse } from "../../../contract/session.ts";
import { nearest } from "../../../base/nearest.ts";
import type { Input } from "../../command.ts";
import type { Context } from "../../context.ts";
import { printError } from "../../errors.ts";
import { sortedNaturally } from "../../../model/text.ts";
import { clean } from "../../render/text.ts";
import { waitingBack } from "../spawn/waits.ts";

type VerbOperation = PlainVerb | "snooze" | "acpKill" | "acpRestart" | "convert";

export interface SessionVerb {
  operation: VerbOperation;
  /** Past participle for `Session X killed.` and, with --no-wait, `Session X will be killed.` */
  done: string;
  /** For `Failed to … session X`; by default the operation's name. */
  fails?: string;
  /** What the verb starts; any other verb ends processes. A `session` that takes long to start shows its progress. */
  starts?: "session" | "agent";
}

export interface VerbCall extends SessionVerb {
  body?: Record<string, unknown>;
  /** By default the sessions named on the command line. */
  ids?: readonly string[];
  print?: (id: string, response: VerbResponse) => void;
}

/** Each waits for its processes; more at the same time would slow all of them down. */
const concurrency = 8;

/** The named sessions, without duplicates. */
export function namedSessions(input: Input): string[] {
  return [...new Set(input.args)];
}

/** The named sessions, or with `--all` those that `isMeant`, in natural order; null if both or neither were given. */
export async function chosenSessions(
  input: Input,
  list: () => Promise<readonly SessionJson[]>,
  isMeant: (session: SessionJson) => boolean,
): Promise<string[] | null> {
  if (input.flag("all") === input.args.length > 0) return null;
  if (!input.flag("all")) return namedSessions(input);
  return sortedNaturally((await list()).filter(isMeant), ({ id }) => id).map(({ id }) => id);
}

export async function runVerb(context: Context, input: Input, call: VerbCall): Promise<number> {
  const { operation, fails = operation, body = {}, ids = namedSessions(input) } = call;
  const wait = !input.flag("no-wait");
  const json = input.flag("json");
  const caller = call.starts === "session" ? waitingBack(context, input, ids.length) : context;
  if (operation === "kill" || operation === "delete") leaveDirectory();
  const one = async (id: string): Promise<VerbResponse> => {
    try {
      const fullBody: ClientInput<typeof operation> = { ...body, ...(wait ? {} : { wait }) };
      return await caller.call(operation, { params: { id }, body: fullBody });
    } catch (error) {
      throw await sessionFailure(context, fails, id, error);
    }
  };
  const slots = new Slots(concurrency, Infinity);
  const running = ids.map((id) => ({ id, result: Promise.allSettled([slots.run(() => one(id))]) }));
  const responses: VerbResponse[] = [];
  for (const { id, result } of running) {
    const [settled] = await result;
    if (settled.status === "rejected") {
      // A single failure is the command's own, with its exit code.
      if (ids.length === 1) throw settled.reason;
      printError(context, settled.reason, json);
      continue;
    }
    const response = settled.value;
    responses.push(response);
    if (call.print === undefined) printVerb(context, id, call, { wait, response });
    else call.print(id, response);
    for (const note of response.notes) context.out(`  ${clean(note)}`);
  }
  const values = responses.map(verbJson);
  context.print(input.args.length === 1 ? values[0] : values, null);
  return responses.length === ids.length ? 0 : 1;
}

function printVerb(
  context: Context,
  id: string,
  { done, starts }: SessionVerb,
  { wait, response }: { wait: boolean; response: VerbResponse },
): void {
  const timedOut = wait && !response.done && starts === undefined;
  if (timedOut) context.out(`Session ${id} will be ${done}, but some processes are still running:`);
  else context.out(`Session ${id} ${response.done ? done : `will be ${done}`}.`);
  for (const { pid, what } of response.remaining) context.out(`  Still running: ${clean(what)} (pid ${pid})`);
}

/** The session as every other command prints it, plus the result of the verb. */
function verbJson({ session, done, remaining, notes }: VerbResponse): Record<string, unknown> {
  return { ...session, done, remaining, notes };
}

/** A command run inside the worktree that it moves must not count as a process that uses it. */
export function leaveDirectory(): void {
  try {
    process.chdir("/");
  } catch {
    // Not possible in a worker thread of a test.
  }
}

/** Their messages are complete. */
const complete: ReadonlySet<ErrorReason | undefined> = new Set<ErrorReason>(["verb-refused", "worktree-missing"]);

export async function sessionFailure(context: Context, fails: string, id: string, error: unknown): Promise<unknown> {
  if (!(error instanceof HoldfastError) || error.code === "usage" || error.code === "unreachable") return error;
  const { reason } = error.details;
  if (complete.has(reason)) return error;
  const missing = reason === "session-not-found" ? await hintIfMissing(context, id) : null;
  const hint = missing ?? error.hint;
  return new HoldfastError(
    error.code,
    `Failed to ${fails} session ${clean(id)}: ${missing === null ? error.message : "Session not found"}`,
    hint === null ? { cause: error } : { hint, cause: error },
  );
}

/** Null if the session exists, because then something else was not found; also null if that cannot be determined. */
async function hintIfMissing(context: Context, id: string): Promise<string | null> {
  const sessions = await context.call("sessions").catch(() => null);
  const ids = sessions?.map((session) => session.id);
  if (ids === undefined || ids.includes(id)) return null;
  const near = nearest(id, ids);
  const list = "List sessions: holdfast session ls --include-terminated";
  return near === null ? list : `Did you mean ${near}? ${list}`;
}
