/**
 * Maps a chat agent's output to events and immediate replies. Pure: the same batch of lines and state before it give
 * the same result every time. Chunks of one batch become one event.
 */
import {
  answerKey,
  authRequired,
  errorLine,
  invalidParams,
  keyOf,
  methodNotFound,
  settingOf,
  promptOf,
  resultLine,
  type ReplayFilter,
} from "../contract/acp.ts";
import type { FactEvent } from "../contract/event.ts";
import type { LaunchId, PermissionOption, PromptId } from "../contract/ids.ts";
import { ruleActor } from "../contract/permission-rules.ts";
import { agentIdOf, isAgentRequestId, newRequestName, type AgentRequestId } from "../contract/permission-request.ts";
import { isLive } from "../model/runs.ts";
import type { ToolCallFields } from "../model/tool-call.ts";
import {
  type MappedOutput,
  type OutputContext,
  type OutputItem,
  errorText,
  isRecord,
  isText,
  list,
  optionOf,
  toolFields,
  wordsOf,
} from "../model/acp.ts";

export function mapOutput(items: readonly OutputItem[], context: OutputContext): MappedOutput {
  const mapping = new Mapping(context);
  for (const item of items) {
    if (item.item === "damaged") mapping.damaged(item);
    else mapping.message(item.message, item.bytes ?? 0);
  }
  return mapping.result();
}

class Mapping {
  readonly #context: OutputContext;
  readonly #launch: LaunchId;
  readonly #events: FactEvent[] = [];
  readonly #lines: MappedOutput["lines"] = [];
  readonly #answers: MappedOutput["answers"] = [];
  /** The agent's own ids of its open permission requests. */
  readonly #permissions: Set<AgentRequestId>;
  /** Whether the agent can still receive an answer: requests of an exited agent are history. */
  readonly #living: boolean;
  #replayFilter: ReplayFilter;
  #turn: { prompt: PromptId | null; cancelling: boolean } | null;
  #agentSessionId: string | null;
  #usage: Record<string, unknown> | null = null;

  constructor(context: OutputContext) {
    const { state, launch } = context;
    this.#context = context;
    this.#launch = launch;
    this.#replayFilter = context.replayFilter;
    this.#turn =
      state.turn.turn === "open" ? { prompt: state.turn.prompt, cancelling: state.turn.cancelling === true } : null;
    this.#permissions = new Set(state.permissions.flatMap((open) => agentIdOf(launch, open) ?? []));
    this.#agentSessionId = state.agentSessionId;
    this.#living = isLive(state.run) && state.run.launch === launch;
  }

  result(): MappedOutput {
    this.#reportUsage();
    return { events: this.#events, lines: this.#lines, answers: this.#answers, replayFilter: this.#replayFilter };
  }

  /** Only the latest usage of a batch, before its turn ends. */
  #reportUsage(): void {
    if (this.#usage !== null) this.#events.push({ type: "usage.updated", usage: this.#usage });
    this.#usage = null;
  }

  damaged({ what, bytes }: Extract<OutputItem, { item: "damaged" }>): void {
    const last = this.#events.at(-1);
    if (last?.type === "output.damaged" && last.what === what) last.bytes += bytes;
    else this.#events.push({ type: "output.damaged", what, bytes });
  }

  /** A line that cannot be mapped is damaged output, like one that cannot be parsed: read again it would fail again. */
  message(message: Record<string, unknown>, bytes: number): void {
    const [events, lines, answers] = [this.#events.length, this.#lines.length, this.#answers.length];
    const before = { replayFilter: this.#replayFilter, turn: this.#turn, agentSessionId: this.#agentSessionId };
    try {
      this.#message(message, bytes);
    } catch {
      [this.#events.length, this.#lines.length, this.#answers.length] = [events, lines, answers];
      ({ replayFilter: this.#replayFilter, turn: this.#turn, agentSessionId: this.#agentSessionId } = before);
      this.damaged({ item: "damaged", what: "unparsable", bytes });
    }
  }

  #message(message: Record<string, unknown>, bytes: number): void {
    const { method, id } = message;
    if (!isText(method)) return this.#answer(message);
    const params = isRecord(message["params"]) ? message["params"] : {};
    if (id !== undefined && id !== null) {
      if (!isAgentRequestId(id)) return this.damaged({ item: "damaged", what: "unparsable", bytes });
      return this.#request(id, method, params);
    }
    if (method === "session/update" && isRecord(params["update"])) this.#update(params["update"], params["sessionId"]);
  }

  #answer(message: Record<string, unknown>): void {
    const key = keyOf(this.#launch, message["id"]);
    if (key === null) return;
    const error = isRecord(message["error"]) ? message["error"] : null;
    const result = isRecord(message["result"]) ? message["result"] : {};
    this.#answers.push({ key, answer: JSON.stringify(error === null ? { result } : { error }) });
    const promptId = promptOf(key);
    if (promptId !== null) return this.#promptAnswered(promptId, result, error);
    if (/^(new|load|resume)\b/.test(key)) return this.#opened(key, result, error);
    const picked = settingOf(key);
    if (picked !== null) this.#picked(picked, result, error);
  }

  /** Ends the turn of that prompt; the response to an earlier turn, which was force-ended, ends nothing. */
  #promptAnswered(promptId: PromptId, result: Record<string, unknown>, error: Record<string, unknown> | null): void {
    if (error !== null && error["code"] === authRequired) this.#authRequired(error);
    const turn = this.#turn;
    if (turn === null || (turn.prompt !== null && turn.prompt !== promptId)) return;
    this.#turn = null;
    this.#permissions.clear();
    this.#reportUsage();
    const stopReason = error === null ? (isText(result["stopReason"]) ? result["stopReason"] : "end_turn") : "error";
    this.#events.push({
      type: "turn.ended",
      stopReason,
      promptId: turn.prompt,
      ...(error === null ? {} : { message: errorText(error) }),
    });
  }

  #opened(key: string, result: Record<string, unknown>, error: Record<string, unknown> | null): void {
    const how = key.startsWith("new") ? "new" : key.startsWith("load") ? "load" : "resume";
    if (how === "load" && this.#replayFilter === "answer") {
      this.#replayFilter = error === null && this.#context.replayEnds === "commands" ? "commands" : null;
    }
    if (error !== null) return;
    const agentSessionId = isText(result["sessionId"]) ? result["sessionId"] : this.#agentSessionId;
    if (agentSessionId === null) return;
    this.#agentSessionId = agentSessionId;
    const { modes = null, models = null, configOptions = null } = result;
    const opened = { agentSessionId, how, modes, models, configOptions, commands: null } as const;
    this.#events.push({ type: "chat.opened", launch: this.#launch, ...opened });
  }

  #picked(
    { pick, by }: NonNullable<ReturnType<typeof settingOf>>,
    result: Record<string, unknown>,
    error: Record<string, unknown> | null,
  ): void {
    if (error !== null) {
      const what = pick.set === "config" ? `${pick.id} ${pick.value}` : `${pick.set} ${pick.value}`;
      this.#events.push({ type: "notice", level: "warn", text: `The agent refused ${what}: ${errorText(error)}` });
    } else if (pick.set === "config") {
      const { configOptions = null } = result;
      this.#events.push({ type: "config.changed", configOptions, picked: { id: pick.id, value: pick.value }, by });
    } else if (pick.set === "mode") {
      this.#events.push({ type: "mode.changed", mode: pick.value, by });
    } else {
      this.#events.push({ type: "model.changed", model: pick.value, by });
    }
  }

  #request(id: AgentRequestId, method: string, params: Record<string, unknown>): void {
    if (method !== "session/request_permission") {
      // Immediately: an agent that waits for a method we do not offer would hang.
      return this.#reply(id, errorLine(id, methodNotFound, `Method not found: ${method}`));
    }
    const options = list(params["options"]).flatMap((option): PermissionOption[] => optionOf(option));
    if (options.length === 0) return this.#reply(id, errorLine(id, invalidParams, "No options to choose from"));
    if (!this.#living || this.#permissions.has(id)) return;
    this.#startTurn();
    const tool = isRecord(params["toolCall"]) ? params["toolCall"] : {};
    // For some agents this is the first mention of the tool call.
    if (isText(tool["toolCallId"])) this.#tool(tool);
    const title = isText(tool["title"]) ? tool["title"] : "The agent asks for permission";
    const toolCallId = isText(tool["toolCallId"]) ? tool["toolCallId"] : null;
    // Events are numbered without gaps, so this is the next event's number.
    const requestId = newRequestName(this.#context.state.seq + this.#events.length + 1);
    this.#events.push({
      type: "permission.asked",
      requestId,
      asker: { launch: this.#launch, id },
      title,
      options,
      ...(toolCallId === null ? {} : { toolCallId }),
    });
    if (this.#turn?.cancelling === true) {
      // Sent before the agent received the user's cancel: the protocol requires this answer.
      this.#events.push({ type: "permission.answered", requestId, optionId: null, outcome: "cancelled", by: "cancel" });
      return this.#reply(id, resultLine(id, { outcome: { outcome: "cancelled" } }));
    }
    const answer = this.#context.judge?.({ toolCallId, updates: this.#updatesOf(toolCallId, tool), options }) ?? null;
    if (answer === null) return void this.#permissions.add(id);
    const { optionId, rule } = answer;
    this.#events.push({ type: "permission.answered", requestId, optionId, outcome: "selected", by: ruleActor, rule });
    return this.#reply(id, resultLine(id, { outcome: { outcome: "selected", optionId } }));
  }

  #updatesOf(toolCallId: string | null, tool: Record<string, unknown>): ToolCallFields[] {
    if (toolCallId === null) return [toolFields(tool)];
    return this.#events.flatMap((event) =>
      event.type === "tool.updated" && event.toolCallId === toolCallId ? [event] : [],
    );
  }

  #reply(id: AgentRequestId, text: string): void {
    // Every line is longer than that: the next answer cannot get the same key.
    if (this.#living) this.#lines.push({ key: answerKey(id, this.#context.inEnd + this.#lines.length), text });
  }

  #update(update: Record<string, unknown>, sessionId: unknown): void {
    const kind = update["sessionUpdate"];
    if (this.#replayFilter !== null) return this.#filtered(kind, update);
    this.#follow(sessionId);
    switch (kind) {
      case "agent_message_chunk":
        return this.#text("agent.text", update);
      case "agent_thought_chunk":
        return this.#text("agent.thought", update);
      case "tool_call":
        this.#startTurn();
        return this.#tool(update);
      case "tool_call_update":
        return this.#tool(update);
      case "plan":
        return void this.#events.push({ type: "plan.updated", entries: list(update["entries"]) });
      case "available_commands_update":
        return void this.#events.push({ type: "commands.changed", commands: list(update["availableCommands"]) });
      case "current_mode_update":
        return this.#mode(update["currentModeId"]);
      case "config_option_update":
        return this.#config(list(update["configOptions"]));
      case "usage_update": {
        const { sessionUpdate: _kind, ...usage } = update;
        this.#usage = usage;
        return;
      }
      default:
      // An update of a newer protocol, which has no event yet.
    }
  }

  /** Replayed history is in our own log already; the list of commands is not history. */
  #filtered(kind: unknown, update: Record<string, unknown>): void {
    if (kind !== "available_commands_update") return;
    if (this.#replayFilter === "commands") this.#replayFilter = null;
    this.#events.push({ type: "commands.changed", commands: list(update["availableCommands"]) });
  }

  /** An agent may continue under another id (after `/clear`): the old one stays in the log. */
  #follow(sessionId: unknown): void {
    if (!isText(sessionId) || this.#agentSessionId === null || sessionId === this.#agentSessionId) return;
    this.#agentSessionId = sessionId;
    this.#events.push({ type: "conversation.pinned", agentSessionId: sessionId });
  }

  #startTurn(): void {
    if (this.#turn !== null) return;
    this.#turn = { prompt: null, cancelling: false };
    this.#events.push({ type: "turn.started", promptId: null });
  }

  /** Chunks of one message are joined. */
  #text(type: "agent.text" | "agent.thought", update: Record<string, unknown>): void {
    const text = wordsOf(update["content"]);
    if (text === "") return;
    this.#startTurn();
    const messageId = type === "agent.text" && isText(update["messageId"]) ? update["messageId"] : undefined;
    const last = this.#events.at(-1);
    const isSame = last?.type === type && (last.type === "agent.thought" || last.messageId === messageId);
    if (isSame) last.text += text;
    else this.#events.push({ type, text, ...(messageId === undefined ? {} : { messageId }) });
  }

  #tool(update: Record<string, unknown>): void {
    const { toolCallId } = update;
    if (!isText(toolCallId)) return;
    const fields = toolFields(update);
    const last = this.#events.at(-1);
    if (last?.type === "tool.updated" && last.toolCallId === toolCallId) Object.assign(last, fields);
    else this.#events.push({ type: "tool.updated", toolCallId, ...fields });
  }

  #mode(mode: unknown): void {
    if (isText(mode) && mode !== this.#context.state.picks.mode)
      this.#events.push({ type: "mode.changed", mode, by: "agent" });
  }

  /** If the agent changed an option that was chosen, its new value is applied again later. */
  #config(configOptions: unknown[]): void {
    const changed = configOptions.flatMap((option) => {
      if (!isRecord(option) || !isText(option["id"]) || !isText(option["currentValue"])) return [];
      const { id, currentValue: value } = option;
      return id in this.#context.state.picks.config && this.#context.state.picks.config[id] !== value
        ? [{ id, value }]
        : [];
    });
    if (changed.length === 0) this.#events.push({ type: "config.changed", configOptions, by: "agent" });
    for (const picked of changed) this.#events.push({ type: "config.changed", configOptions, picked, by: "agent" });
  }

  #authRequired(error: Record<string, unknown>): void {
    const data = isRecord(error["data"]) ? error["data"] : {};
    this.#events.push({ type: "auth.required", message: errorText(error), methods: list(data["authMethods"]) });
  }
}
