/**
 * The demo agent in a terminal: a plain line-by-line interface, no key and no account. It tells its state as real
 * agents do, by hook lines and the window title, and behaves as they do when asked, interrupted, ended and resumed.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { hookLinesName, hooksVariable } from "../hook-script.ts";
import type { DemoConversation } from "./conversation.ts";
import { DemoInput } from "./input.ts";
import type { DemoKey } from "./input.ts";
import { parseDemoPrompt } from "./script.ts";
import type { DemoStep } from "./script.ts";

const yes = /^y(es)?$/i;

class Interrupted extends Error {}

class Leaving extends Error {
  readonly code: number;

  constructor(code: number) {
    super("leaving");
    this.code = code;
  }
}

export class DemoTerminal {
  readonly #conversation: DemoConversation;
  readonly #input = new DemoInput();
  readonly #queue: string[] = [];
  #typed = "";
  #busy = false;
  /** Set while a turn runs: ends its wait. */
  #interrupt: (() => void) | null = null;
  /** Set while a question is open. */
  #answer: ((text: string) => void) | null = null;

  constructor(conversation: DemoConversation) {
    this.#conversation = conversation;
  }

  start(resumed: boolean, prompt: string | undefined): void {
    const { stdin } = process;
    if (stdin.isTTY) stdin.setRawMode(true);
    stdin.setEncoding("utf8");
    stdin.on("data", (chunk: string) => {
      for (const key of this.#input.push(chunk)) this.#take(key);
    });
    stdin.on("end", () => this.#leave(0));
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => this.#leave(0));
    write("\u001b[?2004h");
    const { id, turns } = this.#conversation;
    line(`Holdfast demo agent, conversation ${id}${resumed ? `, resumed with ${turns.length} turns` : ""}.`);
    line("Try: say: hello · ask: may I? · slow: 5 · history? · exit: 0");
    this.#tell("SessionStart", { source: resumed ? "resume" : "startup" });
    this.#ready();
    if (prompt !== undefined) this.#submit(prompt);
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
        if (this.#busy) this.#interrupt?.();
        else if (this.#typed === "") this.#leave(0);
        this.#typed = "";
        return;
      case "end":
        if (!this.#busy && this.#typed === "") this.#leave(0);
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
    if (prompt.trim() === "/exit") return this.#leave(0);
    this.#queue.push(prompt);
    if (!this.#busy) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    let said = "";
    for (let prompt = this.#queue.shift(); prompt !== undefined; prompt = this.#queue.shift()) {
      said = await this.#turn(prompt);
    }
    this.#busy = false;
    this.#tell("Stop", { said });
    this.#ready();
  }

  async #turn(prompt: string): Promise<string> {
    title("working");
    this.#tell("UserPromptSubmit", { prompt });
    line(`> ${prompt.replaceAll("\n", "\r\n  ")}`);
    const said: string[] = [];
    let leaving: number | null = null;
    try {
      for (const step of parseDemoPrompt(prompt)) {
        const text = await this.#carryOut(step);
        said.push(text);
        line(text);
      }
    } catch (error) {
      if (error instanceof Interrupted) said.push("(interrupted)");
      else if (!(error instanceof Leaving)) throw error;
      if (error instanceof Leaving) leaving = error.code;
      else line("(interrupted)");
    }
    const reply = said.join("\n");
    this.#conversation.add({ prompt, reply });
    if (leaving !== null) this.#leave(leaving);
    return reply;
  }

  #carryOut(step: DemoStep): Promise<string> {
    switch (step.step) {
      case "say":
        return Promise.resolve(step.text);
      case "history":
        return Promise.resolve(this.#conversation.describe());
      case "slow":
        return this.#pause(step.seconds);
      case "ask":
        return this.#ask(step.text);
      case "exit":
        return Promise.reject(new Leaving(step.code));
      default:
        return step satisfies never;
    }
  }

  async #pause(seconds: number): Promise<string> {
    await this.#wait((done) => {
      const timer = setTimeout(done, seconds * 1000);
      return () => clearTimeout(timer);
    });
    return `waited ${seconds} s`;
  }

  async #ask(question: string): Promise<string> {
    line(`Permission required: ${question}`);
    write("Allow? (y/n) ");
    this.#tell("PermissionRequest", { question });
    title("asking");
    let answer = "";
    await this.#wait((done) => {
      this.#answer = (text) => {
        answer = text;
        done();
      };
      return () => {
        this.#answer = null;
      };
    });
    title("working");
    this.#tell("PermissionAnswered", { answer });
    return yes.test(answer.trim()) ? "allowed" : "denied";
  }

  /** Until `begin` calls back, or the person interrupts; then what it returned is called in either case. */
  async #wait(begin: (done: () => void) => () => void): Promise<void> {
    let clear = (): void => {};
    try {
      await new Promise<void>((done, stop) => {
        this.#interrupt = () => stop(new Interrupted());
        clear = begin(done);
      });
    } finally {
      this.#interrupt = null;
      clear();
    }
  }

  #ready(): void {
    title("ready");
    write("demo> ");
  }

  #tell(event: string, data: Record<string, unknown>): void {
    const directory = process.env[hooksVariable];
    if (directory === undefined) return;
    const text = JSON.stringify({ event, at: Date.now(), data: { session_id: this.#conversation.id, ...data } });
    try {
      appendFileSync(join(directory, hookLinesName), `${text}\n`);
    } catch {
      // Whoever watches is gone; the conversation goes on.
    }
  }

  #leave(code: number): void {
    write("\u001b[?2004l\r\n");
    process.exit(code);
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
