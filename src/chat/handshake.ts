/**
 * From a started agent to an open conversation: initialize, then session/new, or session/resume or session/load with the
 * stored id; then the chosen settings are applied again. Another daemon can continue after any step.
 */
import { randomUUID } from "node:crypto";
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
import { list } from "../model/acp.ts";
import type { Actor, LaunchHow } from "../contract/ids.ts";
import {
  awaitOutput,
  sendRequest,
  isWanted,
  record,
  errorText,
  type NoResult,
  type RpcResponse,
  type Request,
  type Failure,
} from "./client.ts";
import type { AcpContext } from "./context.ts";
import type { AgentProcess } from "./agent-process.ts";

export type Opened =
  | { opened: true; agentSessionId: string }
  | { opened: false; reason: string; conversationGone: boolean };

/** How often a load is tried if it fails for a reason that may pass. */
const loadAttempts = 3;
const minuteMs = 60_000;

/** `fs` and `terminal` are not offered: agents that use them would block while no daemon runs. */
export function initializeRequest(context: AcpContext): Request {
  const params: InitializeRequest = {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: "holdfast", title: "Holdfast", version },
  };
  return { key: "init", method: "initialize", params, deadlineMs: context.deadlines.initializeMs };
}

export function openConversation(
  context: AcpContext,
  proc: AgentProcess,
  request: { session: SessionState; how: LaunchHow; chat: ChatAgent },
): Promise<Opened> {
  return new Opening(context, proc, request.session, request.chat).open(request.how);
}

class Opening {
  readonly #context: AcpContext;
  readonly #proc: AgentProcess;
  readonly #session: SessionState;
  readonly #chat: ChatAgent;
  /** The agent's response to `initialize`. */
  #initialized: Record<string, unknown> = {};

  constructor(context: AcpContext, proc: AgentProcess, session: SessionState, chat: ChatAgent) {
    this.#context = context;
    this.#proc = proc;
    this.#session = session;
    this.#chat = chat;
  }

  async open(how: LaunchHow): Promise<Opened> {
    const initialized = await this.#request(initializeRequest(this.#context));
    if (initialized.is !== "result") return failed("initialize", initialized);
    this.#initialized = initialized.result;
    const isResume = this.#howStarted(how) === "resume" && this.#session.agentSessionId !== null;
    const opened = await (isResume ? this.#resume(this.#session.agentSessionId!) : this.#start());
    if (opened.opened) await this.#applySettings(opened.agentSessionId);
    return opened;
  }

  /** Every request here is part of a start, and given up once the session is no longer wanted running. */
  #request(request: Omit<Request, "deadlineMs"> & { deadlineMs?: number }): Promise<RpcResponse> {
    return sendRequest(this.#context, this.#proc, {
      deadlineMs: this.#context.deadlines.openMs,
      ...request,
      opening: true,
    });
  }

  /** A request that an earlier daemon made for this launch counts: an open conversation is never loaded again. */
  #howStarted(how: LaunchHow): LaunchHow {
    const wasSent = (key: string): boolean => this.#context.store.inputRow(this.#proc.launch, key) !== null;
    if (wasSent("new")) return "fresh";
    return wasSent("resume") || wasSent("load") ? "resume" : how;
  }

  async #start(): Promise<Opened> {
    const params: NewSessionRequest = { cwd: this.#session.workspacePath, mcpServers: [] };
    const response = await this.#request({ key: "new", method: "session/new", params });
    if (response.is !== "result") return this.#refused("session/new", response);
    const { sessionId } = response.result;
    if (typeof sessionId === "string") return { opened: true, agentSessionId: sessionId };
    return notOpened("The agent opened a session without an id.");
  }

  async #resume(id: string): Promise<Opened> {
    const ways = waysToResume(this.#initialized);
    if (ways.length === 0) return notOpened("This agent cannot resume a conversation.", true);
    const gone = (reason: string): Promise<Opened> | Opened =>
      // The agent never stored a conversation without a prompt: nothing is lost, so nothing is reported.
      this.#session.prompted ? notOpened(reason, true) : this.#start();
    if (this.#chat.opensUnknown === true && (await this.#isUnlisted())) {
      return gone("The agent no longer lists this conversation.");
    }
    let last = notOpened("The conversation could not be resumed.");
    for (const way of ways) {
      for (let attempt = 1; attempt <= loadAttempts; attempt++) {
        if (attempt > 1) await delay(this.#context.deadlines.retryMs);
        if (way === "load" && this.#chat.noLoadInBirthMinute === true) await this.#waitOutMinute();
        const params: ResumeSessionRequest & LoadSessionRequest = {
          sessionId: id,
          cwd: this.#session.workspacePath,
          mcpServers: [],
        };
        const response = await this.#request({
          key: attempt === 1 ? way : `${way}.${attempt}`,
          method: `session/${way}`,
          params,
          // Set with the request's row: from here on the agent may replay what our log already has.
          step: way === "load" ? { replayFilter: "answer" } : {},
        });
        if (response.is === "result") {
          if (way === "load") await this.#awaitReplay();
          return { opened: true, agentSessionId: id };
        }
        if (response.is === "error" && (await this.#isNotFound(response))) {
          return gone(`The agent reports: ${errorText(response)}`);
        }
        last = await this.#refused(`session/${way}`, response);
        if (response.is !== "error" || response.code === authRequired) return last;
        if (response.code === methodNotFound) break;
      }
    }
    return last;
  }

  /** Some agents replay after their response; the filter ends with their list of commands, or at the deadline. */
  async #awaitReplay(): Promise<void> {
    const { store, deadlines } = this.#context;
    const { session, launch } = this.#proc;
    const over = await awaitOutput(this.#context, this.#proc, deadlines.replayMs, () => {
      if ((store.launchOffsets(launch)?.replayFilter ?? null) === null) return "over";
      return isWanted(this.#context, this.#proc) ? null : "unwanted";
    });
    if (over !== "over") await store.chat(session, launch, () => ({ replayFilter: null }));
  }

  /** One agent destroys a conversation that is loaded in the minute in which it was created. */
  async #waitOutMinute(): Promise<void> {
    const { now } = this.#context;
    const born = this.#session.conversationSince;
    if (born === null) return;
    const over = (Math.floor(born / minuteMs) + 1) * minuteMs;
    while (now() < over && isWanted(this.#context, this.#proc)) await delay(Math.min(over - now() + 50, 250));
  }

  async #applySettings(id: string): Promise<void> {
    const { mode, model, config } = this.#session.picks;
    const isChosen = (option: string): boolean => option in config || (option === "model" && model !== undefined);
    const configured = Object.entries(this.#chat.options ?? {}).filter(([option]) => !isChosen(option));
    await this.#apply(id, configurationActor, configured.map(optionSetting));
    await this.#apply(id, "holdfast", [
      ...Object.entries(config).map(optionSetting),
      ...(model === undefined ? [] : [{ set: "model" as const, value: model }]),
      ...(mode === undefined ? [] : [{ set: "mode" as const, value: mode }]),
    ]);
  }

  /** A refusal is shown as a notice; the session works without the setting. */
  async #apply(id: string, by: Actor, settings: AgentSetting[]): Promise<void> {
    const { configureMs: deadlineMs } = this.#context.deadlines;
    for (const setting of settings) {
      await this.#request({ ...settingRequest(id, setting, settingKey(setting, by, "open")), deadlineMs });
    }
  }

  async #refused(method: string, response: NoResult): Promise<Opened> {
    if (response.is !== "error" || response.code !== authRequired) return failed(method, response);
    const methods = list(this.#initialized["authMethods"]);
    const names = methods.map((one) => record(one)["name"]).filter((name) => typeof name === "string");
    const how = names.length === 0 ? "" : ` Ways to sign in: ${names.join(", ")}.`;
    const message = `The agent is not signed in: ${response.message}.${how} Sign in with the agent's own command, then restore the session.`;
    await this.#context.store.chat(this.#proc.session, this.#proc.launch, () => ({
      events: [{ type: "auth.required", message: response.message, methods }],
    }));
    return notOpened(message);
  }

  async #isNotFound(failure: Failure): Promise<boolean> {
    const text = `${failure.message} ${JSON.stringify(failure.data ?? "")}`;
    const rule = this.#chat.notFound.find(
      ({ code, message }) => code === failure.code && (message === null || message.test(text)),
    );
    if (rule === undefined) return false;
    return rule.confirm !== "list" || (await this.#isUnlisted());
  }

  /** Only a complete list proves anything. */
  async #isUnlisted(): Promise<boolean> {
    const params: ListSessionsRequest = { cwd: this.#session.workspacePath };
    const response = await this.#request({ key: `list:${randomUUID()}`, method: "session/list", params });
    if (response.is !== "result") return false;
    const { sessions, nextCursor = null } = response.result;
    return (
      Array.isArray(sessions) &&
      nextCursor === null &&
      !sessions.some((one) => record(one)["sessionId"] === this.#session.agentSessionId)
    );
  }
}

function optionSetting([id, value]: [string, string]): AgentSetting {
  return { set: "config", id, value };
}

function notOpened(reason: string, conversationGone = false): Opened {
  return { opened: false, reason, conversationGone };
}

/** Resuming comes first: it restores the context without a replay. */
function waysToResume(initialized: Record<string, unknown>): ("resume" | "load")[] {
  const capabilities = record(initialized["agentCapabilities"]);
  const resume = record(capabilities["sessionCapabilities"])["resume"] ?? false;
  return [
    ...(resume === false ? [] : (["resume"] as const)),
    ...(capabilities["loadSession"] === true ? (["load"] as const) : []),
  ];
}

function failed(method: string, response: NoResult): Opened {
  const what = {
    error: response.is === "error" ? `answered ${method} with error ${response.code}: ${errorText(response)}` : "",
    late: `did not answer ${method} in time`,
    unwanted: `was stopped before it answered ${method}`,
    gone: `exited before it answered ${method}`,
  }[response.is];
  return notOpened(`The agent ${what}.`);
}

export function settingRequest(sessionId: string, setting: AgentSetting, key: string): Omit<Request, "deadlineMs"> {
  const { value } = setting;
  switch (setting.set) {
    case "mode":
      return { key, method: "session/set_mode", params: { sessionId, modeId: value } };
    case "model":
      return { key, method: "session/set_model", params: { sessionId, modelId: value } };
    case "config":
      return { key, method: "session/set_config_option", params: { sessionId, configId: setting.id, value } };
    default:
      return setting satisfies never;
  }
}
