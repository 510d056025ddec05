/** Whether an agent that refuses a conversation has lost it: a wrong yes would throw away a context that is still there. */
import { crypto } from "../base/digest.ts";
import type { ListSessionsRequest } from "@agentclientprotocol/sdk";
import type { ChatAgent } from "../ports/agents.ts";
import type { SessionState } from "../model/session.ts";
import { ask, record, type Failure } from "./client.ts";
import type { AcpContext } from "./context.ts";
import type { Worker } from "./agent-process.ts";

export async function isNotFound(
  context: AcpContext,
  worker: Worker,
  session: SessionState,
  chat: ChatAgent,
  answer: Failure,
): Promise<boolean> {
  const text = `${answer.message} ${JSON.stringify(answer.data ?? "")}`;
  const rule = chat.notFound.find(
    ({ code, message }) => code === answer.code && (message === null || message.test(text)),
  );
  if (rule === undefined) return false;
  return rule.confirm !== "list" || (await isUnlisted(context, worker, session));
}

/** Only a list that was given to its end proves anything. */
async function isUnlisted(context: AcpContext, worker: Worker, session: SessionState): Promise<boolean> {
  const params: ListSessionsRequest = { cwd: session.workspacePath };
  const deadlineMs = context.deadlines.openMs;
  const request = { key: `list:${crypto().randomUUID()}`, method: "session/list", params, deadlineMs, opening: true };
  const answer = await ask(context, worker, request);
  if (answer.is !== "result") return false;
  const { sessions, nextCursor = null } = answer.result;
  return (
    Array.isArray(sessions) &&
    nextCursor === null &&
    !sessions.some((one) => record(one)["sessionId"] === session.agentSessionId)
  );
}
