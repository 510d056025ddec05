/** One turn: the prompt is written down, then its steps are carried out, and each thing is written down before it is shown. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ContentBlock, PlanEntry, SessionUpdate, StopReason, ToolCall } from "@agentclientprotocol/sdk";
import { editFile } from "./edit.ts";
import { internalError, RpcError } from "./json-rpc.ts";
import type { JsonRpcPeer } from "./json-rpc.ts";
import { permissionOptions, pickedOption, unlessAborted } from "./permission.ts";
import { describeAttachment, textOf, titleOf } from "./prompt.ts";
import { parseChatPrompt } from "./script.ts";
import type { ChatStep } from "./script.ts";
import { textUpdate } from "./session.ts";
import type { DemoSession } from "./session.ts";
import { runTool } from "./tool.ts";

/** How often a gate is looked at. */
const gateMs = 15;
/** After the answer to the prompt, and soon enough not to be waited for. */
const laterMs = 50;
const floodLine = `${"x".repeat(99)}\n`;
/** What the demo claims as the size of its context. */
const contextSize = 200_000;

export interface TurnParts {
  session: DemoSession;
  client: JsonRpcPeer;
  env: NodeJS.ProcessEnv;
  /** Opens a session without context in the place of this one. */
  clear(): void;
  /** Ends the process. */
  leave(code: number): void;
}

export class DemoTurn {
  readonly #parts: TurnParts;
  readonly #signal: AbortSignal;
  #plan: string[] = [];
  readonly #later: string[] = [];
  /** What was remembered before this turn. */
  #history = "";

  constructor(parts: TurnParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(prompt: ContentBlock[]): Promise<StopReason> {
    const { conversation } = this.#parts.session;
    const text = textOf(prompt);
    this.#history = conversation.describe();
    conversation.begin(text);
    if (conversation.turns.length === 1) this.#tell({ sessionUpdate: "session_info_update", title: titleOf(text) });
    try {
      for (const line of prompt.flatMap(describeAttachment)) this.#say(`${line}\n`);
      for (const step of parseChatPrompt(text)) await this.#carryOut(step);
    } catch (error) {
      if (this.#signal.aborted) return "cancelled";
      throw error;
    } finally {
      for (const words of this.#later) setTimeout(() => this.#say(`${words}\n`), laterMs);
    }
    if (this.#plan.length > 0) this.#showPlan(this.#plan, this.#plan.length);
    const used = conversation.turns.reduce((sum, turn) => sum + turn.prompt.length + turn.reply.length, 0);
    this.#tell({ sessionUpdate: "usage_update", used: Math.ceil(used / 4), size: contextSize });
    return "end_turn";
  }

  async #carryOut(step: ChatStep): Promise<void> {
    const { session, env } = this.#parts;
    switch (step.step) {
      case "say":
        return this.#stream(`${step.text}\n`, 0);
      case "type":
        return this.#stream(step.text, step.paceMs);
      case "think":
        return this.#show(textUpdate("agent_thought_chunk", step.text));
      case "plan":
        return this.#showPlan(step.entries, step.done);
      case "tool":
        return this.#tool(step.command);
      case "edit":
        return this.#edit(step.path, step.text);
      case "ask":
        return this.#say(`${await this.#ask(step.text)}\n`);
      case "slow":
        await sleep(step.seconds * 1000, undefined, { signal: this.#signal });
        return this.#say(`waited ${step.seconds} s\n`);
      case "ticks":
        for (let tick = 1; tick <= step.count; tick++) {
          this.#say(`tick ${tick}/${step.count}\n`);
          await sleep(step.pauseMs, undefined, { signal: this.#signal });
        }
        return undefined;
      case "flood":
        return this.#flood(step.bytes);
      case "wait":
        await sleep(step.ms, undefined, { signal: this.#signal });
        return undefined;
      case "gate":
        return this.#gate(env["HOLDFAST_DEMO_GATES"], step.name);
      case "history":
        return this.#say(`${this.#history}\n`);
      case "tell":
        return this.#say(`${step.what}: ${session[step.what]}\n`);
      case "mode":
        if (!session.setMode(step.mode)) throw new RpcError(internalError, `There is no mode ${step.mode}`);
        return this.#tell({ sessionUpdate: "current_mode_update", currentModeId: step.mode });
      case "fail":
        throw new RpcError(internalError, step.message);
      case "later":
        this.#later.push(step.text);
        return undefined;
      case "clear":
        return this.#parts.clear();
      case "exit":
        return this.#parts.leave(step.code);
      case "crash":
        process.kill(process.pid, "SIGKILL");
        return undefined;
      default:
        return step satisfies never;
    }
  }

  #say(text: string, messageId: string = randomUUID()): void {
    this.#parts.session.conversation.addPart({ said: text });
    this.#tell(textUpdate("agent_message_chunk", text, messageId));
  }

  async #stream(text: string, paceMs: number): Promise<void> {
    const messageId = randomUUID();
    for (const word of text.match(/\s*\S+\s*/g) ?? [text]) {
      this.#say(word, messageId);
      if (paceMs > 0) await sleep(paceMs, undefined, { signal: this.#signal });
    }
  }

  /** Not written down in full: it is made to fill pipes, not disks. */
  async #flood(bytes: number): Promise<void> {
    this.#parts.session.conversation.addPart({ said: `(${bytes} bytes)\n` });
    const messageId = randomUUID();
    for (let left = bytes, count = 1; left > 0; left -= floodLine.length, count++) {
      this.#tell(textUpdate("agent_message_chunk", floodLine.slice(-left), messageId));
      // A cancel must be heard in between.
      if (count % 256 === 0) await sleep(0, undefined, { signal: this.#signal });
    }
  }

  async #gate(directory: string | undefined, name: string): Promise<void> {
    if (directory === undefined) throw new RpcError(internalError, "HOLDFAST_DEMO_GATES names no directory");
    while (!existsSync(join(directory, name))) await sleep(gateMs, undefined, { signal: this.#signal });
  }

  #showPlan(entries: string[], done: number): void {
    this.#plan = entries;
    const status = (at: number): PlanEntry["status"] =>
      at < done ? "completed" : at === done ? "in_progress" : "pending";
    this.#show({
      sessionUpdate: "plan",
      entries: entries.map((content, at) => ({ content, priority: "medium", status: status(at) })),
    });
  }

  async #tool(command: string): Promise<void> {
    const toolCallId = this.#call({ title: command, kind: "execute", rawInput: { command } });
    if (this.#onlyPlans(toolCallId)) return;
    const text = (output: string): ToolCall["content"] => [
      { type: "content", content: { type: "text", text: output } },
    ];
    const { output, exitCode, signal } = await runTool(command, this.#parts.session.cwd, this.#signal, (sofar) =>
      this.#tell({
        sessionUpdate: "tool_call_update",
        toolCallId,
        status: "in_progress",
        content: text(sofar) ?? null,
      }),
    );
    const status = exitCode === 0 ? "completed" : "failed";
    const content = text(output) ?? null;
    this.#show({ sessionUpdate: "tool_call_update", toolCallId, status, content, rawOutput: { exitCode, signal } });
    this.#signal.throwIfAborted();
  }

  #edit(path: string, text: string): void {
    const toolCallId = this.#call({ title: `Edit ${path}`, kind: "edit", rawInput: { path } });
    if (this.#onlyPlans(toolCallId)) return;
    const edited = editFile(this.#parts.session.cwd, path, text);
    if (!edited.edited) return this.#failCall(toolCallId, edited.why);
    this.#show({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "completed",
      content: [{ type: "diff", path: edited.path, oldText: edited.oldText, newText: edited.newText }],
      locations: [{ path: edited.path, line: 1 }],
    });
  }

  /** In the words of the terminal's demo agent: `allowed` or `denied`. A denial does not end the turn. */
  async #ask(question: string): Promise<string> {
    const { session, client } = this.#parts;
    if (session.mode === "auto" || session.allowed.has(question)) return "allowed";
    const toolCallId = this.#call({ title: question, kind: "other", status: "pending" });
    const asked = client.request("session/request_permission", {
      sessionId: session.conversation.id,
      toolCall: { toolCallId, title: question, kind: "other", status: "pending" },
      options: permissionOptions,
    });
    const picked = pickedOption(await unlessAborted(asked, this.#signal));
    if (picked?.kind === "allow_always") session.allowed.add(question);
    const allowed = picked !== undefined && picked.kind !== "reject_once";
    this.#show({ sessionUpdate: "tool_call_update", toolCallId, status: allowed ? "completed" : "failed" });
    return allowed ? "allowed" : "denied";
  }

  #call(call: Omit<ToolCall, "toolCallId">): string {
    const toolCallId = `call-${randomUUID()}`;
    this.#show({ sessionUpdate: "tool_call", status: "in_progress", ...call, toolCallId });
    return toolCallId;
  }

  #onlyPlans(toolCallId: string): boolean {
    if (this.#parts.session.mode !== "plan") return false;
    this.#failCall(toolCallId, "Nothing is written or run in plan mode.");
    return true;
  }

  #failCall(toolCallId: string, why: string): void {
    const content: ToolCall["content"] = [{ type: "content", content: { type: "text", text: why } }];
    this.#show({ sessionUpdate: "tool_call_update", toolCallId, status: "failed", content });
  }

  /** Belongs to the conversation: a load shows it again. */
  #show(update: SessionUpdate): void {
    this.#parts.session.conversation.addPart({ shown: update });
    this.#tell(update);
  }

  #tell(update: SessionUpdate): void {
    this.#parts.client.notify("session/update", { sessionId: this.#parts.session.conversation.id, update });
  }
}
