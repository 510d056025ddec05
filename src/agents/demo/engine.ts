/**
 * What the demo agent does, in a terminal as in a chat: it records the prompt, carries out its steps, and records each
 * part of the reply before the face shows it.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  PermissionOptionKind,
  PlanEntry,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
  StopReason,
  ToolCall,
} from "@agentclientprotocol/sdk";
import { internalError, RpcError } from "../../base/json-rpc.ts";
import type { DemoConversation, DemoTurn } from "./conversation.ts";
import type { DemoStep } from "./script.ts";
import { editFile, runTool } from "./tools.ts";

/** How often a gate is checked. */
const gateMs = 15;
/** After the response to the prompt, and soon enough for a test. */
const laterMs = 50;
const floodLine = `${"x".repeat(99)}\n`;

const modes = [
  { id: "default", name: "Default", description: "Asks for permission where a step says so" },
  { id: "auto", name: "Auto", description: "Allows everything without asking" },
  { id: "plan", name: "Plan", description: "Writes and runs nothing" },
];
const models = [
  { value: "demo-small", name: "Demo small" },
  { value: "demo-large", name: "Demo large" },
];

/** How the agent shows itself: a terminal, or an ACP client. */
export interface Face {
  /** Called once the prompt is recorded. */
  started(session: DemoSession, prompt: string): void;
  show(session: DemoSession, update: SessionUpdate): void;
  /** Undefined if the permission request was cancelled. */
  requestPermission(
    session: DemoSession,
    call: ToolCall,
    signal: AbortSignal,
  ): Promise<PermissionOptionKind | undefined>;
  /** Opens a session without context in place of this one. */
  clear(session: DemoSession): void;
  /** Ends the process. */
  leave(code: number): void;
}

export class DemoSession {
  readonly conversation: DemoConversation;
  readonly cwd: string;
  /** Always allowed; forgotten with the process. */
  readonly allowed = new Set<string>();
  // Not kept on disk: most agents forget mode and model too, and have to be given them again.
  mode = "default";
  model = "demo-small";
  #turn: Promise<unknown> = Promise.resolve();
  #stop = new AbortController();

  constructor(conversation: DemoConversation, cwd: string) {
    this.conversation = conversation;
    this.cwd = cwd;
  }

  setMode(mode: string): boolean {
    if (!modes.some(({ id }) => id === mode)) return false;
    this.mode = mode;
    return true;
  }

  setModel(model: string): boolean {
    if (!models.some(({ value }) => value === model)) return false;
    this.model = model;
    return true;
  }

  settings(): { modes: SessionModeState; configOptions: SessionConfigOption[] } {
    return {
      modes: { currentModeId: this.mode, availableModes: modes },
      configOptions: [
        { type: "select", id: "model", name: "Model", category: "model", currentValue: this.model, options: models },
      ],
    };
  }

  /** Turns run in order; a cancel stops the running one and those that are queued. */
  run(face: Face, prompt: string, steps: DemoStep[]): Promise<StopReason> {
    const { signal } = this.#stop;
    const turn = this.#turn.then(() =>
      signal.aborted ? "cancelled" : new Turn(this, face, signal).run(prompt, steps),
    );
    this.#turn = turn.catch(() => {});
    return turn;
  }

  cancel(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
  }
}

class Turn {
  readonly #session: DemoSession;
  readonly #face: Face;
  readonly #signal: AbortSignal;
  #plan: string[] = [];
  readonly #later: string[] = [];
  /** The agent's memory before this turn. */
  readonly #history: string;

  constructor(session: DemoSession, face: Face, signal: AbortSignal) {
    this.#session = session;
    this.#face = face;
    this.#signal = signal;
    this.#history = session.conversation.describe();
  }

  async run(prompt: string, steps: DemoStep[]): Promise<StopReason> {
    this.#session.conversation.begin(prompt);
    this.#face.started(this.#session, prompt);
    try {
      for (const step of steps) await this.#carryOut(step);
    } catch (error) {
      if (this.#signal.aborted) return "cancelled";
      throw error;
    } finally {
      for (const text of this.#later) setTimeout(() => this.#say(`${text}\n`), laterMs);
    }
    if (this.#plan.length > 0) this.#showPlan(this.#plan, this.#plan.length);
    return "end_turn";
  }

  async #carryOut(step: DemoStep): Promise<void> {
    const session = this.#session;
    switch (step.step) {
      case "say":
        return this.#stream(`${step.text}\n`, 0);
      case "type":
        return this.#stream(step.text, step.paceMs);
      case "think":
        return this.#record(textUpdate("agent_thought_chunk", step.text));
      case "plan":
        return this.#showPlan(step.entries, step.done);
      case "tool":
        return this.#tool(step.command);
      case "edit":
        return this.#edit(step.path, step.text);
      case "ask":
        return this.#say(`${await this.#ask(step.text)}\n`);
      case "slow":
        await this.#sleep(step.seconds * 1000);
        return this.#say(`waited ${step.seconds} s\n`);
      case "ticks":
        for (let tick = 1; tick <= step.count; tick++) {
          this.#say(`tick ${tick}/${step.count}\n`);
          await this.#sleep(step.pauseMs);
        }
        return undefined;
      case "flood":
        return this.#flood(step.bytes);
      case "wait":
        return this.#sleep(step.ms);
      case "gate":
        return this.#gate(process.env["HOLDFAST_DEMO_GATES"], step.name);
      case "history":
        return this.#say(`${this.#history}\n`);
      case "report":
        return this.#say(`${step.what}: ${session[step.what]}\n`);
      case "mode":
        if (!session.setMode(step.mode)) throw new RpcError(internalError, `There is no mode ${step.mode}`);
        return this.#face.show(session, { sessionUpdate: "current_mode_update", currentModeId: step.mode });
      case "fail":
        throw new RpcError(internalError, step.message);
      case "later":
        this.#later.push(step.text);
        return undefined;
      case "clear":
        return this.#face.clear(session);
      case "exit":
        return this.#face.leave(step.code);
      case "crash":
        process.kill(process.pid, "SIGKILL");
        return undefined;
      default:
        return step satisfies never;
    }
  }

  #sleep(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#signal });
  }

  #say(text: string, messageId: string = randomUUID()): void {
    this.#session.conversation.addPart({ said: text });
    this.#face.show(this.#session, textUpdate("agent_message_chunk", text, messageId));
  }

  async #stream(text: string, paceMs: number): Promise<void> {
    const messageId = randomUUID();
    for (const word of text.match(/\s*\S+\s*/g) ?? [text]) {
      this.#say(word, messageId);
      if (paceMs > 0) await this.#sleep(paceMs);
    }
  }

  /** Not recorded in full: it is meant to fill pipes, not disks. */
  async #flood(bytes: number): Promise<void> {
    this.#session.conversation.addPart({ said: `(${bytes} bytes)\n` });
    const messageId = randomUUID();
    for (let left = bytes, count = 1; left > 0; left -= floodLine.length, count++) {
      this.#face.show(this.#session, textUpdate("agent_message_chunk", floodLine.slice(-left), messageId));
      // Lets a cancel through.
      if (count % 256 === 0) await this.#sleep(0);
    }
  }

  async #gate(directory: string | undefined, name: string): Promise<void> {
    if (directory === undefined) throw new RpcError(internalError, "HOLDFAST_DEMO_GATES names no directory");
    while (!existsSync(join(directory, name))) await this.#sleep(gateMs);
  }

  #showPlan(entries: string[], done: number): void {
    this.#plan = entries;
    const status = (at: number): PlanEntry["status"] =>
      at < done ? "completed" : at === done ? "in_progress" : "pending";
    this.#record({
      sessionUpdate: "plan",
      entries: entries.map((content, at) => ({ content, priority: "medium", status: status(at) })),
    });
  }

  async #tool(command: string): Promise<void> {
    const { toolCallId } = this.#call({ title: command, kind: "execute", rawInput: { command } });
    if (this.#onlyPlans(toolCallId)) return;
    const { output, exitCode, signal } = await runTool(command, this.#session.cwd, this.#signal, (sofar) =>
      this.#face.show(this.#session, { ...toolUpdate(toolCallId, sofar), status: "in_progress" }),
    );
    const status = exitCode === 0 ? "completed" : "failed";
    this.#record({ ...toolUpdate(toolCallId, output), status, rawOutput: { exitCode, signal } });
    this.#signal.throwIfAborted();
  }

  #edit(path: string, text: string): void {
    const { toolCallId } = this.#call({ title: `Edit ${path}`, kind: "edit", rawInput: { path } });
    if (this.#onlyPlans(toolCallId)) return;
    const edited = editFile(this.#session.cwd, path, text);
    if (!edited.edited) return this.#record({ ...toolUpdate(toolCallId, edited.why), status: "failed" });
    this.#record({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "completed",
      content: [{ type: "diff", path: edited.path, oldText: edited.oldText, newText: edited.newText }],
      locations: [{ path: edited.path, line: 1 }],
    });
  }

  /** A denial does not end the turn. */
  async #ask(question: string): Promise<"allowed" | "denied"> {
    const session = this.#session;
    if (session.mode === "auto" || session.allowed.has(question)) return "allowed";
    const call = this.#call({ title: question, kind: "other", status: "pending" });
    const answer = await this.#face.requestPermission(session, call, this.#signal);
    if (answer === "allow_always") session.allowed.add(question);
    const allowed = answer === "allow_once" || answer === "allow_always";
    const status = allowed ? "completed" : "failed";
    this.#record({ sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status });
    return allowed ? "allowed" : "denied";
  }

  #call(fields: Omit<ToolCall, "toolCallId">): ToolCall {
    const call: ToolCall = { status: "in_progress", ...fields, toolCallId: `call-${randomUUID()}` };
    this.#record({ sessionUpdate: "tool_call", ...call });
    return call;
  }

  #onlyPlans(toolCallId: string): boolean {
    if (this.#session.mode !== "plan") return false;
    this.#record({ ...toolUpdate(toolCallId, "Nothing is written or run in plan mode."), status: "failed" });
    return true;
  }

  /** Part of the conversation: a load shows it again. */
  #record(update: SessionUpdate): void {
    this.#session.conversation.addPart({ shown: update });
    this.#face.show(this.#session, update);
  }
}

/** The conversation as it was shown; a turn in a terminal of an earlier version has only its text. */
export function replayOf(turns: readonly DemoTurn[]): SessionUpdate[] {
  return turns.flatMap(({ prompt, reply, parts }): SessionUpdate[] => [
    textUpdate("user_message_chunk", prompt),
    ...(parts ?? [{ said: reply }]).map((part) =>
      "said" in part ? textUpdate("agent_message_chunk", part.said) : (part.shown as SessionUpdate),
    ),
  ]);
}

function toolUpdate(toolCallId: string, text: string): Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }> {
  const content = [{ type: "content" as const, content: { type: "text" as const, text } }];
  return { sessionUpdate: "tool_call_update", toolCallId, content };
}

function textUpdate(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  text: string,
  messageId?: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text }, ...(messageId === undefined ? {} : { messageId }) };
}
