/**
 * The demo agent in a terminal, dist/demo-agent.cjs: a plain line-by-line interface without an account. It reports its
 * state like real agents, by hook lines and the window title, and can be asked, interrupted, stopped and resumed.
 */
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { PermissionOptionKind, SessionUpdate, ToolCall } from "@agentclientprotocol/sdk";
import { hookLinesName, hooksVariable } from "../hook-script.ts";
import { conversationsDirectory, DemoConversation } from "./conversation.ts";
import { DemoSession, type Face } from "./engine.ts";
import { DemoInput, type DemoKey } from "./input.ts";
import { parseTerminalPrompt } from "./script.ts";

/** Of the agent's own behavior, not of Holdfast. */
const version = "1";
const yes = /^y(es)?$/i;

class TerminalFace implements Face {
  readonly #session: DemoSession;
  readonly #input = new DemoInput();
  #typed = "";
  readonly #queue: string[] = [];
  #busy = false;
  /** Set while a permission request is open. */
  #answer: ((text: string) => void) | null = null;

  constructor(conversation: DemoConversation) {
    this.#session = new DemoSession(conversation, process.cwd());
  }

  start(resumed: boolean, prompt: string | undefined): void {
    const { stdin } = process;
    if (stdin.isTTY) stdin.setRawMode(true);
    stdin.setEncoding("utf8");
    stdin.on("data", (chunk: string) => {
      for (const key of this.#input.push(chunk)) this.#take(key);
    });
    stdin.on("end", () => this.leave(0));
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => this.leave(0));
    write("\u001b[?2004h");
    const { id, turns } = this.#session.conversation;
    line(`Holdfast demo agent, conversation ${id}${resumed ? `, resumed with ${turns.length} turns` : ""}.`);
    line("Try: say: hello · ask: may I? · slow: 5 · history? · exit: 0");
    this.#report("SessionStart", { source: resumed ? "resume" : "startup" });
    this.#ready();
    if (prompt !== undefined) this.#submit(prompt);
  }

  started(_: DemoSession, prompt: string): void {
    title("working");
    this.#report("UserPromptSubmit", { prompt });
    line(`> ${prompt.replaceAll("\n", "\r\n  ")}`);
  }

  show(_: DemoSession, update: SessionUpdate): void {
    if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
    write(update.content.text.replaceAll("\n", "\r\n"));
  }

  async requestPermission(
    _: DemoSession,
    { title: question }: ToolCall,
    signal: AbortSignal,
  ): Promise<PermissionOptionKind> {
    line(`Permission required: ${question}`);
    write("Allow? (y/n) ");
    this.#report("PermissionRequest", { question });
    title("asking");
    const answer = await new Promise<string>((resolve, reject) => {
      this.#answer = resolve;
      signal.addEventListener("abort", () => reject(new Error("interrupted")), { once: true });
    }).finally(() => {
      this.#answer = null;
    });
    title("working");
    this.#report("PermissionAnswered", { answer });
    return yes.test(answer.trim()) ? "allow_once" : "reject_once";
  }

  clear(): void {}

  leave(code: number): void {
    write("\u001b[?2004l\r\n");
    process.exit(code);
  }

  #take(key: DemoKey): void {
    switch (key.key) {
      case "text":
        this.#typed += key.text;
        write(key.text.replaceAll("\n", "\r\n"));
        return;
      case "erase":
        if (this.#typed.length > 0) write("\b \b");
        this.#typed = this.#typed.slice(0, -1);
        return;
      case "interrupt":
        if (this.#busy) this.#session.cancel();
        else if (this.#typed === "") this.leave(0);
        this.#typed = "";
        return;
      case "end":
        if (!this.#busy && this.#typed === "") this.leave(0);
        return;
      case "enter": {
        const text = this.#typed;
        this.#typed = "";
        line("");
        if (this.#answer !== null) this.#answer(text);
        else if (text.trim() !== "") this.#submit(text);
      }
    }
  }

  #submit(prompt: string): void {
    if (prompt.trim() === "/exit") return this.leave(0);
    this.#queue.push(prompt);
    if (!this.#busy) void this.#drain();
  }

  async #drain(): Promise<void> {
    const { conversation } = this.#session;
    this.#busy = true;
    for (let prompt = this.#queue.shift(); prompt !== undefined; prompt = this.#queue.shift()) {
      if ((await this.#session.run(this, prompt, parseTerminalPrompt(prompt))) === "end_turn") continue;
      conversation.addPart({ said: "(interrupted)" });
      line("(interrupted)");
    }
    this.#busy = false;
    this.#report("Stop", { said: conversation.turns.at(-1)?.reply.trimEnd() ?? "" });
    this.#ready();
  }

  #ready(): void {
    title("ready");
    write("demo> ");
  }

  #report(event: string, data: Record<string, unknown>): void {
    const directory = process.env[hooksVariable];
    if (directory === undefined) return;
    const { id } = this.#session.conversation;
    const text = JSON.stringify({ event, at: Date.now(), data: { session_id: id, ...data } });
    try {
      appendFileSync(join(directory, hookLinesName), `${text}\n`);
    } catch {
      // The reader is gone; the conversation continues.
    }
  }
}

function write(text: string): void {
  process.stdout.write(text);
}

function line(text: string): void {
  write(`${text}\r\n`);
}

function title(state: "ready" | "working" | "asking"): void {
  write(`\u001b]2;demo: ${state}\u0007`);
}

const { values } = parseArgs({
  options: {
    "session-id": { type: "string" },
    resume: { type: "string" },
    prompt: { type: "string" },
    version: { type: "boolean", default: false },
  },
});

if (values.version) console.log(`holdfast demo agent ${version}`);
else start(values.resume !== undefined, values.resume ?? values["session-id"] ?? randomUUID(), values.prompt);

function start(resume: boolean, id: string, prompt: string | undefined): void {
  const directory = conversationsDirectory(process.env);
  const conversation = resume ? DemoConversation.resume(directory, id) : DemoConversation.create(directory, id);
  if (conversation !== null) return new TerminalFace(conversation).start(resume, prompt);
  console.error(resume ? `demo: no conversation ${id}` : `demo: conversation ${id} exists already`);
  process.exitCode = 1;
}
