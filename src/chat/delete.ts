/** Deletes the agent's own copy of a conversation, for a permanent removal: by the protocol, or by the agent's command. */
import { randomUUID } from "node:crypto";
import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import type { DeleteOutcome, OwnDeleteOutcome } from "../ports/chat.ts";
import { methodNotFound } from "../contract/acp.ts";
import type { SessionState } from "../model/session.ts";
import { findProgram } from "../base/find-program.ts";
import { sendRequest, readResponse, record, type RpcResponse } from "./client.ts";
import type { AcpContext } from "./context.ts";
import { cancelTurn } from "./turns.ts";
import type { AgentProcess } from "./agent-process.ts";

/** Claude writes its transcript late: a delete within 10 ms of a turn's end leaves the conversation behind. */
const settleMs = 500;
const deleteMs = 4_000;
/** The slowest agent takes 6 s to start on an idle machine. */
const commandMs = 30_000;

/**
 * Cancel, close, settle, delete: in that order, or the agent writes to the conversation again. Claude writes the last
 * prompt's text when its session ends, and a delete alone ends it only afterwards. Then the agent's list must not have it.
 */
export async function deleteConversation(context: AcpContext, proc: AgentProcess): Promise<DeleteOutcome> {
  const until = performance.now() + deleteMs;
  const cancelled = await cancelTurn(context, proc, { by: "delete", waitMs: deleteMs / 2 });
  const state = context.store.session(proc.session);
  const sessionId = state?.agentSessionId ?? null;
  if (sessionId === null || state === null) return "not-running";
  const params = { sessionId };
  const endedAt = state.turn.turn === "ended" ? state.turn.at : 0;
  const left = (): number => Math.max(until - performance.now(), settleMs);
  const closes = canDo(context, proc, "close");
  if (closes)
    await sendRequest(context, proc, { key: "close", method: "session/close", params, deadlineMs: left() / 2 });
  if (closes || cancelled.cancelled !== "no-turn" || context.now() - endedAt < settleMs) await delay(settleMs);
  const answer = await sendRequest(context, proc, {
    key: "delete",
    method: "session/delete",
    params,
    deadlineMs: left(),
  });
  const listed = answer.is === "result" && (await isListed(context, proc, state, sessionId, left()));
  return outcomeOf(context, state, answer, listed);
}

/** Logs the agent's name: many commands start with `node` or `npx`. */
function outcomeOf(context: AcpContext, session: SessionState, answer: RpcResponse, listed: boolean): DeleteOutcome {
  const fields = { part: "acp.protocol", session: session.id, adapter: session.agent, method: "session/delete" };
  if (answer.is === "result" && !listed) {
    context.log.debug("the agent deleted its conversation", fields);
    return "deleted";
  }
  if (answer.is === "error" && answer.code === methodNotFound) {
    context.log.debug("the agent cannot delete a conversation", { ...fields, code: answer.code });
    return "unsupported";
  }
  const why =
    answer.is === "error"
      ? { code: answer.code, reason: answer.message }
      : { outcome: answer.is === "result" ? "still listed" : answer.is };
  context.log.warn("the agent did not delete its conversation", { ...fields, ...why });
  return answer.is === "late" ? "too-late" : "failed";
}

/** False if the agent cannot list its conversations, or not in time. */
async function isListed(
  context: AcpContext,
  proc: AgentProcess,
  session: SessionState,
  sessionId: string,
  deadlineMs: number,
): Promise<boolean> {
  if (!canDo(context, proc, "list")) return false;
  const key = `list:${randomUUID()}`;
  const params = { cwd: session.workspacePath };
  const answer = await sendRequest(context, proc, { key, method: "session/list", params, deadlineMs });
  const sessions = answer.is === "result" ? answer.result["sessions"] : [];
  return Array.isArray(sessions) && sessions.some((one) => record(one)["sessionId"] === sessionId);
}

function canDo(context: AcpContext, proc: AgentProcess, what: "close" | "list"): boolean {
  const initialized = readResponse(context, proc, "init");
  const capabilities = initialized?.is === "result" ? record(initialized.result["agentCapabilities"]) : {};
  const found = record(capabilities["sessionCapabilities"])[what] ?? false;
  return found !== false;
}

/** Runs in the agent's environment, but not in the worktree, which may be gone. */
export async function deleteByCommand(
  context: AcpContext,
  session: SessionState,
  env: Record<string, string>,
): Promise<OwnDeleteOutcome> {
  const chat = context.agents.of(session)?.chat ?? null;
  const { agentSessionId: id } = session;
  if (chat?.deleteCommand === undefined || id === null) return "none";
  // Its conversation is in the session's own home, which is removed with the session.
  if ((session.contain?.mode ?? "off") !== "off") return "none";
  const environment = { ...context.env, ...chat.env, ...env };
  const [command = "", ...args] = chat.deleteCommand.map((word) => word.replaceAll("{id}", () => id));
  const path = findProgram(command, environment["PATH"]);
  const fields = { part: "acp.protocol", session: session.id, adapter: session.agent, command };
  if (path === null) return "none";
  const options = {
    env: environment,
    cwd: context.files.directoryOfAll,
    timeout: commandMs,
    killSignal: "SIGKILL" as const,
  };
  const error = await new Promise<Error | null>((resolve) => {
    const child = execFile(path, args, options, (failed) => resolve(failed));
    child.stdin?.end();
  });
  if (error === null) {
    context.log.debug("the agent's own command deleted its conversation", fields);
    return "deleted";
  }
  context.log.warn("the agent's own command did not delete its conversation", { ...fields, error });
  return "failed";
}
