/**
 * Requests to an agent: a row with its line first, then the file, then the answer, which is a row again. A request that an
 * earlier daemon made is not made twice: whoever asks for its answer finds it, or waits for it.
 */
import { join } from "node:path";
import { isAlive } from "../base/pid.ts";
import type { ChatStep } from "../ports/store.ts";
import { requestLine } from "../contract/acp.ts";
import { messageOf } from "../contract/error.ts";
import type { AcpContext } from "./context.ts";
import { appendRows, ring } from "./agent-input.ts";
import { hears, identityOf, type Worker } from "./agent-process.ts";
import { fileSize, readExit } from "./agent-files.ts";

export type Answer =
  | { is: "result"; result: Record<string, unknown> }
  | { is: "error"; code: number; message: string; data: unknown }
  /** The agent ended before it answered. */
  | { is: "gone" }
  | { is: "late" }
  /** The person wants the session down: nobody waits for this answer any more. */
  | { is: "unwanted" };
export type Failure = Extract<Answer, { is: "error" }>;

/** An agent's death is noticed at least this often while its answer is awaited. */
const lookMs = 100;
/** An append that failed for want of room is tried again after this. */
const appendRetryMs = 1_000;
const mayPass = new Set(["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE", "EAGAIN"]);

export interface Request {
  key: string;
  method: string;
  params: object;
  deadlineMs: number;
  /** Part of a start: not waited for once the session is no longer wanted running. */
  opening?: boolean;
  step?: Omit<ChatStep, "lines">;
}

export async function ask(context: AcpContext, worker: Worker, request: Request): Promise<Answer> {
  await writeRequest(context, worker, request);
  return awaitAnswer(context, worker, request);
}

/** The row alone, where the line is to be read by a feeder that is still to be started. */
export async function writeRequest(context: AcpContext, worker: Worker, request: Request): Promise<void> {
  const { key, method, params, step = {} } = request;
  if (context.store.outboxRow(worker.launch, key) === null) {
    const text = requestLine(worker.launch, key, method, params);
    await context.store.chat(worker.session, worker.launch, () => ({
      ...step,
      lines: [{ key, text }],
      appendedTo: worker.appendedTo,
    }));
  }
  await flush(context, worker);
}

/** Appends whatever is not in `in` yet, and wakes the feeder. False when the file is not as the rows say. */
export function flush(context: AcpContext, worker: Worker): Promise<boolean> {
  const work = worker.appending.then(() => appendNow(context, worker));
  worker.appending = work;
  return work;
}

async function appendNow(context: AcpContext, worker: Worker): Promise<boolean> {
  const { store, log } = context;
  const { session, launch, directory } = worker;
  try {
    const result = await appendRows(directory, (offset) => store.outboxAfter(launch, offset), context.stillOurs);
    if (!result.appended) return deaf(context, worker, result.why);
    worker.appendedTo = result.size;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!mayPass.has(code)) return deaf(context, worker, messageOf(error));
    // The row is on disk: what is missing of its line is appended as soon as there is room, by us or the next daemon.
    log.warn("a line for the agent is still to be written", { session, error });
    setTimeout(() => void flush(context, worker), appendRetryMs).unref();
    return true;
  }
  context.inbox.expect(worker);
  if (ring(directory) === "no-feeder" && worker.record.agent !== null) deaf(context, worker, "nobody feeds it");
  return true;
}

/**
 * Asked before something is promised: a prompt or an answer whose row is written counts as given. Somebody else's bytes in
 * `in`, a file that was cut, or a feeder that died since the last look mean that nothing more can be said.
 */
export function canBeTold(context: AcpContext, worker: Worker): boolean {
  if (!hears(worker)) return deaf(context, worker, "nobody feeds it");
  const { store } = context;
  const size = fileSize(join(worker.directory, "in")) ?? 0;
  const end = store.launchPlace(worker.launch)?.inEnd ?? 0;
  const fault =
    size > end
      ? "somebody else wrote to its input"
      : size < end && store.outboxAfter(worker.launch, size).some(({ text }) => text === null)
        ? "its input was cut"
        : null;
  return fault === null || deaf(context, worker, fault);
}

/** Nothing more can be said to this agent: it has to be ended and its session resumed. */
function deaf(context: AcpContext, worker: Worker, why: string): false {
  if (!worker.feederGone)
    context.log.error("the agent can no longer be told anything", { session: worker.session, why });
  worker.feederGone = true;
  context.hint(worker.session);
  return false;
}

async function awaitAnswer(context: AcpContext, worker: Worker, request: Request): Promise<Answer> {
  const { key, deadlineMs, opening = false } = request;
  const until = performance.now() + deadlineMs;
  worker.waiting++;
  context.inbox.expect(worker);
  try {
    for (;;) {
      const found = readAnswer(context, worker, key);
      if (found !== null) return found;
      if (isGone(worker)) {
        await context.inbox.catchUp(worker);
        return readAnswer(context, worker, key) ?? { is: "gone" };
      }
      if (opening && !isWanted(context, worker)) return { is: "unwanted" };
      const left = until - performance.now();
      if (left <= 0) return { is: "late" };
      await context.changes.next(worker.session, Math.min(left, lookMs));
    }
  } finally {
    worker.waiting--;
  }
}

export function readAnswer(context: AcpContext, worker: Worker, key: string): Answer | null {
  const text = context.store.outboxRow(worker.launch, key)?.answer ?? null;
  if (text === null) return null;
  const { result, error } = JSON.parse(text) as { result?: Record<string, unknown>; error?: Record<string, unknown> };
  if (error === undefined) return { is: "result", result: result ?? {} };
  const { code, message, data } = error;
  return {
    is: "error",
    code: typeof code === "number" ? code : 0,
    message: typeof message === "string" ? message : "an error without a message",
    data,
  };
}

/** A kill must not wait until a start that hangs has used up its time. */
export function isWanted({ store }: AcpContext, { session }: Worker): boolean {
  return store.session(session)?.intent.want === "running";
}

export function isGone(worker: Worker): boolean {
  const { agent } = worker.record;
  return agent === null ? readExit(worker.directory) !== null : !isAlive(identityOf(worker.record, agent));
}

/** Agents put what went wrong into `data` and "Internal error" into the message. */
export function wordsOf({ message, data }: Failure): string {
  const { details } = record(data);
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
