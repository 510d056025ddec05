/**
 * Requests to an agent: first a stored row with its line, then the file, then the response, which is stored too. A request
 * of an earlier daemon is not sent twice: a second call finds its response, or waits for it.
 */
import { join } from "node:path";
import { isAlive } from "../base/pid.ts";
import type { ChatStep } from "../ports/store.ts";
import { requestLine } from "../contract/acp.ts";
import { messageOf } from "../contract/errors.ts";
import type { AcpContext } from "./context.ts";
import { appendRows, ring } from "./agent-input.ts";
import { isFed, identityOf, type AgentProcess } from "./agent-process.ts";
import { fileSize, readExit } from "./agent-files.ts";

export type RpcResponse =
  | { is: "result"; result: Record<string, unknown> }
  | { is: "error"; code: number; message: string; data: unknown }
  /** The agent ended before it answered. */
  | { is: "gone" }
  | { is: "late" }
  /** The session is no longer wanted running: the response is not awaited. */
  | { is: "unwanted" };
export type NoResult = Exclude<RpcResponse, { is: "result" }>;
export type Failure = Extract<RpcResponse, { is: "error" }>;

/** How often the agent's death is checked for while its response is awaited. */
const checkMs = 100;
/** Until an append that failed on a full disk is tried again. */
const appendRetryMs = 1_000;
const mayPass = new Set(["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE", "EAGAIN"]);

export interface Request {
  key: string;
  method: string;
  params: object;
  deadlineMs: number;
  /** Part of a start: not awaited once the session is no longer wanted running. */
  opening?: boolean;
  step?: Omit<ChatStep, "lines">;
}

export async function sendRequest(context: AcpContext, proc: AgentProcess, request: Request): Promise<RpcResponse> {
  await writeRequest(context, proc, request);
  return awaitResponse(context, proc, request);
}

/** Does not wait for the response: the agent may not be started yet. */
export async function writeRequest(context: AcpContext, proc: AgentProcess, request: Request): Promise<void> {
  const { key, method, params, step = {} } = request;
  if (context.store.inputRow(proc.launch, key) === null) {
    const text = requestLine(proc.launch, key, method, params);
    await context.store.chat(proc.session, proc.launch, () => ({
      ...step,
      lines: [{ key, text }],
      appendedTo: proc.appendedTo,
    }));
  }
  await flush(context, proc);
}

/** Appends the lines that `in` does not have yet, and wakes the feeder. False if the file does not match the rows. */
export function flush(context: AcpContext, proc: AgentProcess): Promise<boolean> {
  const work = proc.appending.then(() => appendNow(context, proc));
  proc.appending = work;
  return work;
}

async function appendNow(context: AcpContext, proc: AgentProcess): Promise<boolean> {
  const { store, log } = context;
  const { session, launch, directory } = proc;
  try {
    const result = await appendRows(directory, (offset) => store.inputAfter(launch, offset), context.stillOurs);
    if (!result.appended) return markUnreachable(context, proc, result.why);
    proc.appendedTo = result.size;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!mayPass.has(code)) return markUnreachable(context, proc, messageOf(error));
    // The row is on disk: the rest of its line is appended once there is space, by this daemon or the next.
    log.warn("a line for the agent is not written yet", { session, error });
    setTimeout(() => void flush(context, proc), appendRetryMs).unref();
    return true;
  }
  context.output.expect(proc);
  if (ring(directory) === "no-feeder" && proc.record.agent !== null)
    markUnreachable(context, proc, "its feeder is gone");
  return true;
}

/**
 * Checked before a prompt or an answer is stored, because it then counts as sent. False if another process wrote to `in`,
 * the file was truncated, or the feeder died.
 */
export function canReceive(context: AcpContext, proc: AgentProcess): boolean {
  if (!isFed(proc)) return markUnreachable(context, proc, "its feeder is gone");
  const { store } = context;
  const size = fileSize(join(proc.directory, "in")) ?? 0;
  const end = store.launchOffsets(proc.launch)?.inEnd ?? 0;
  const fault =
    size > end
      ? "another process wrote to its input"
      : size < end && store.inputAfter(proc.launch, size).some(({ text }) => text === null)
        ? "its input was cut"
        : null;
  return fault === null || markUnreachable(context, proc, fault);
}

/** This agent cannot receive input anymore: it has to be stopped and its session resumed. */
function markUnreachable(context: AcpContext, proc: AgentProcess, why: string): false {
  if (!proc.feederGone) context.log.error("cannot send input to the agent", { session: proc.session, why });
  proc.feederGone = true;
  context.hint(proc.session);
  return false;
}

async function awaitResponse(context: AcpContext, proc: AgentProcess, request: Request): Promise<RpcResponse> {
  const { key, deadlineMs, opening = false } = request;
  context.output.expect(proc);
  const response = await awaitOutput(context, proc, deadlineMs, () => {
    const found = readResponse(context, proc, key);
    if (found !== null || isGone(proc)) return found ?? "gone";
    return opening && !isWanted(context, proc) ? "unwanted" : null;
  });
  if (typeof response === "object") return response ?? { is: "late" };
  if (response === "unwanted") return { is: "unwanted" };
  await context.output.catchUp(proc);
  return readResponse(context, proc, key) ?? { is: "gone" };
}

/** Calls `check` after each change of the agent's output until it returns a value; null after the deadline. */
export async function awaitOutput<T>(
  context: AcpContext,
  proc: AgentProcess,
  deadlineMs: number,
  check: () => T | null,
): Promise<T | null> {
  const until = performance.now() + deadlineMs;
  proc.waiting++;
  try {
    for (;;) {
      const found = check();
      if (found !== null) return found;
      const left = until - performance.now();
      if (left <= 0) return null;
      await context.outputSignal.next(proc.session, Math.min(left, checkMs));
    }
  } finally {
    proc.waiting--;
  }
}

export function readResponse(context: AcpContext, proc: AgentProcess, key: string): RpcResponse | null {
  const text = context.store.inputRow(proc.launch, key)?.answer ?? null;
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

/** A kill must not wait for a start that hangs. */
export function isWanted({ store }: AcpContext, { session }: AgentProcess): boolean {
  return store.session(session)?.intent.want === "running";
}

export function isGone(proc: AgentProcess): boolean {
  const { agent } = proc.record;
  return agent === null ? readExit(proc.directory) !== null : !isAlive(identityOf(proc.record, agent));
}

/** Agents put the cause into `data` and "Internal error" into the message. */
export function errorText({ message, data }: Failure): string {
  const { details } = record(data);
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
