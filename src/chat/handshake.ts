/**
 * From a started agent to an open conversation: initialize, then session/new, or session/resume or session/load with the
 * stored id; then what somebody picked is applied again. Every step can be resumed by another daemon in its middle.
 */
import { setTimeout as delay } from "node:timers/promises";
import type {
  InitializeRequest,
  LoadSessionRequest,
  NewSessionRequest,
  ResumeSessionRequest,
  ListSessionsRequest,
} from "@agentclientprotocol/sdk";
import { version } from "../base/program.ts";
import type { ChatAgent } from "../ports/agents.ts";
import { configurationActor } from "../contract/acp.ts";
import { authRequired, methodNotFound, type AgentSetting, settingKey } from "../contract/acp.ts";
import type { SessionState } from "../model/session.ts";
import type { LaunchHow } from "../contract/ids.ts";
import {
  ask as askAgent,
  isWanted,
  record,
  errorText,
  type RpcResponse,
  type Request,
  type Failure,
} from "./client.ts";
import type { AcpContext } from "./context.ts";
import type { AgentProcess } from "./agent-process.ts";
import { crypto } from "../base/digest.ts";

export type Opened =
  | { opened: true; agentSessionId: string }
  | { opened: false; reason: string; conversationGone: boolean };

/** A load that failed for a reason that may pass is tried so often before the launch is given up. */
const loadAttempts = 3;
const minuteMs = 60_000;

/** `fs` and `terminal` are not offered: agents that use them would block while no daemon is there to answer. */
export function initializeRequest(context: AcpContext): Request {
  const params: InitializeRequest = {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: "holdfast", title: "Holdfast", version },
  };
  return { key: "init", method: "initialize", params, deadlineMs: context.deadlines.initializeMs };
}

export async function openConversation(
  context: AcpContext,
  proc: AgentProcess,
  { session, how, chat }: { session: SessionState; how: LaunchHow; chat: ChatAgent },
): Promise<Opened> {
  const initialized = await ask(context, proc, initializeRequest(context));
  if (initialized.is !== "result") return failed("initialize", initialized);
  const opened =
    howBegun(context, proc, how) === "resume" && session.agentSessionId !== null
      ? await resume(context, proc, session, chat, initialized.result)
      : await begin(context, proc, session, initialized.result);
  if (opened.opened) await applySettings(context, proc, session, chat, opened.agentSessionId);
  return opened;
}

/** Everything here belongs to a start, and ends with the wish for it. */
function ask(context: AcpContext, proc: AgentProcess, request: Request): Promise<RpcResponse> {
  return askAgent(context, proc, { ...request, opening: true });
}

/** What this launch was already asked for counts: a conversation that is open is never loaded again. */
function howBegun(context: AcpContext, { launch }: AgentProcess, how: LaunchHow): LaunchHow {
  const asked = (key: string): boolean => context.store.inputRow(launch, key) !== null;
  if (asked("new")) return "fresh";
  return asked("resume") || asked("load") ? "resume" : how;
}

async function begin(
  context: AcpContext,
  proc: AgentProcess,
  session: SessionState,
  initialized: Record<string, unknown>,
): Promise<Opened> {
  const params: NewSessionRequest = { cwd: session.workspacePath, mcpServers: [] };
  const deadlineMs = context.deadlines.openMs;
  const answer = await ask(context, proc, { key: "new", method: "session/new", params, deadlineMs });
  if (answer.is !== "result") return refused(context, proc, "session/new", answer, initialized);
  const { sessionId } = answer.result;
  if (typeof sessionId === "string") return { opened: true, agentSessionId: sessionId };
  return { opened: false, reason: "The agent opened a session without an id.", conversationGone: false };
}

async function resume(
  context: AcpContext,
  proc: AgentProcess,
  session: SessionState,
  chat: ChatAgent,
  initialized: Record<string, unknown>,
): Promise<Opened> {
  const id = session.agentSessionId!;
  const ways = waysToResume(initialized);
  if (ways.length === 0) {
    return { opened: false, reason: "This agent cannot resume a conversation.", conversationGone: true };
  }
  const gone = (reason: string): Promise<Opened> | Opened =>
    // A conversation that never got a prompt was never kept by the agent: nothing is lost, so nothing is reported.
    session.prompted ? { opened: false, reason, conversationGone: true } : begin(context, proc, session, initialized);
  if (chat.opensUnknown === true && (await isUnlisted(context, proc, session))) {
    return gone("The agent no longer lists this conversation.");
  }
  let last: Opened | null = null;
  for (const way of ways) {
    for (let attempt = 1; attempt <= loadAttempts; attempt++) {
      if (attempt > 1) await delay(context.deadlines.retryMs);
      if (way === "load" && chat.noLoadInBirthMinute === true) await waitOutMinute(context, proc, session);
      const answer = await askToResume(context, proc, session, way, attempt);
      if (answer.is === "result") {
        if (way === "load") await awaitReplay(context, proc);
        return { opened: true, agentSessionId: id };
      }
      if (answer.is === "error" && (await isNotFound(context, proc, session, chat, answer))) {
        return gone(`The agent reports: ${errorText(answer)}`);
      }
      last = await refused(context, proc, `session/${way}`, answer, initialized);
      if (answer.is !== "error" || answer.code === authRequired) return last;
      if (answer.code === methodNotFound) break;
    }
  }
  return last ?? { opened: false, reason: "The conversation could not be resumed.", conversationGone: false };
}

function askToResume(
  context: AcpContext,
  proc: AgentProcess,
  session: SessionState,
  way: "resume" | "load",
  attempt: number,
): Promise<RpcResponse> {
  const params: ResumeSessionRequest & LoadSessionRequest = {
    sessionId: session.agentSessionId!,
    cwd: session.workspacePath,
    mcpServers: [],
  };
  return ask(context, proc, {
    key: attempt === 1 ? way : `${way}.${attempt}`,
    method: `session/${way}`,
    params,
    deadlineMs: context.deadlines.openMs,
    // With the request's row: from here on the agent may replay, and that is in our log already.
    step: way === "load" ? { replayFilter: "answer" } : {},
  });
}

/** Resuming comes first: it brings the context back without a replay. */
function waysToResume(initialized: Record<string, unknown>): ("resume" | "load")[] {
  const capabilities = record(initialized["agentCapabilities"]);
  const resume = record(capabilities["sessionCapabilities"])["resume"];
  return [
    ...(resume === undefined || resume === null || resume === false ? [] : (["resume"] as const)),
    ...(capabilities["loadSession"] === true ? (["load"] as const) : []),
  ];
}

/** Some agents replay after their answer; the replayFilter falls with their list of commands, or when that does not come. */
async function awaitReplay(context: AcpContext, proc: AgentProcess): Promise<void> {
  const { store, deadlines } = context;
  const until = performance.now() + deadlines.replayMs;
  proc.waiting++;
  try {
    for (;;) {
      const left = until - performance.now();
      if ((store.launchOffsets(proc.launch)?.replayFilter ?? null) === null) return;
      if (left <= 0 || !isWanted(context, proc)) break;
      await context.outputSignal.next(proc.session, Math.min(left, 250));
    }
  } finally {
    proc.waiting--;
  }
  await store.chat(proc.session, proc.launch, () => ({ replayFilter: null }));
}

/** One agent destroys a conversation that is loaded in the very minute in which it began. */
async function waitOutMinute(context: AcpContext, proc: AgentProcess, session: SessionState): Promise<void> {
  const born = session.conversationSince;
  if (born === null) return;
  const over = (Math.floor(born / minuteMs) + 1) * minuteMs;
  while (context.now() < over && isWanted(context, proc)) await delay(Math.min(over - context.now() + 50, 250));
}

async function applySettings(
  context: AcpContext,
  proc: AgentProcess,
  session: SessionState,
  chat: ChatAgent,
  id: string,
): Promise<void> {
  const { mode, model, config } = session.picks;
  const chosen = (option: string): boolean => option in config || (option === "model" && model !== undefined);
  for (const [option, value] of Object.entries(chat.options ?? {})) {
    if (chosen(option)) continue;
    const pick: AgentSetting = { set: "config", id: option, value };
    const request = settingRequest(id, pick, settingKey(pick, configurationActor, "open"));
    await ask(context, proc, { ...request, deadlineMs: context.deadlines.configureMs });
  }
  const picks: AgentSetting[] = [
    ...Object.entries(config).map(([key, value]): AgentSetting => ({ set: "config", id: key, value })),
    ...(model === undefined ? [] : [{ set: "model" as const, value: model }]),
    ...(mode === undefined ? [] : [{ set: "mode" as const, value: mode }]),
  ];
  for (const pick of picks) {
    const request = settingRequest(id, pick, settingKey(pick, "holdfast", "open"));
    // A refusal is shown as a notice; it keeps no one from working.
    await ask(context, proc, { ...request, deadlineMs: context.deadlines.configureMs });
  }
}

async function refused(
  context: AcpContext,
  proc: AgentProcess,
  method: string,
  answer: RpcResponse,
  initialized: Record<string, unknown>,
): Promise<Opened> {
  if (answer.is !== "error" || answer.code !== authRequired) return failed(method, answer);
  const methods = Array.isArray(initialized["authMethods"]) ? (initialized["authMethods"] as unknown[]) : [];
  const names = methods.flatMap((one) =>
    typeof record(one)["name"] === "string" ? [record(one)["name"] as string] : [],
  );
  const how = names.length === 0 ? "" : ` Ways to sign in: ${names.join(", ")}.`;
  const message = `The agent is not signed in: ${answer.message}.${how} Sign in with the agent's own command, then restore the session.`;
  await context.store.chat(proc.session, proc.launch, () => ({
    events: [{ type: "auth.required", message: answer.message, methods }],
  }));
  return { opened: false, reason: message, conversationGone: false };
}

function failed(method: string, answer: RpcResponse): Opened {
  const what =
    answer.is === "error"
      ? `answered ${method} with error ${answer.code}: ${errorText(answer)}`
      : answer.is === "late"
        ? `did not answer ${method} in time`
        : answer.is === "unwanted"
          ? `was stopped before it answered ${method}`
          : `exited before it answered ${method}`;
  return { opened: false, reason: `The agent ${what}.`, conversationGone: false };
}

async function isNotFound(
  context: AcpContext,
  proc: AgentProcess,
  session: SessionState,
  chat: ChatAgent,
  answer: Failure,
): Promise<boolean> {
  const text = `${answer.message} ${JSON.stringify(answer.data ?? "")}`;
  const rule = chat.notFound.find(
    ({ code, message }) => code === answer.code && (message === null || message.test(text)),
  );
  if (rule === undefined) return false;
  return rule.confirm !== "list" || (await isUnlisted(context, proc, session));
}

/** Only a list that was given to its end proves anything. */
async function isUnlisted(context: AcpContext, proc: AgentProcess, session: SessionState): Promise<boolean> {
  const params: ListSessionsRequest = { cwd: session.workspacePath };
  const deadlineMs = context.deadlines.openMs;
  const request = { key: `list:${crypto().randomUUID()}`, method: "session/list", params, deadlineMs };
  const answer = await ask(context, proc, request);
  if (answer.is !== "result") return false;
  const { sessions, nextCursor = null } = answer.result;
  return (
    Array.isArray(sessions) &&
    nextCursor === null &&
    !sessions.some((one) => record(one)["sessionId"] === session.agentSessionId)
  );
}

export function settingRequest(
  sessionId: string,
  pick: AgentSetting,
  key: string,
): { key: string; method: string; params: object } {
  switch (pick.set) {
    case "mode":
      return { key, method: "session/set_mode", params: { sessionId, modeId: pick.value } };
    case "model":
      return { key, method: "session/set_model", params: { sessionId, modelId: pick.value } };
    case "config":
      return {
        key,
        method: "session/set_config_option",
        params: { sessionId, configId: pick.id, value: pick.value },
      };
    default:
      return pick satisfies never;
  }
}
