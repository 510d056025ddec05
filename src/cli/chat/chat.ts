/**
 * A chat session in a terminal: streams the transcript; a typed line is a prompt, a key answers a permission request.
 * Without a terminal each line of stdin is a prompt; the command exits once all of them are answered.
 */
import { randomUUID } from "node:crypto";
import { createInterface, type Interface } from "node:readline";
import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import type { PermissionOption } from "../../contract/ids.ts";
import { messageOf } from "../../contract/errors.ts";
import type { SessionJson } from "../../contract/session.ts";
import type { EventJson } from "../../contract/stream.ts";
import { chosenBy, keysLine, meaningOfInterrupt } from "./keys.ts";
import type { Context } from "../context.ts";
import { follow } from "../system/daemon/follow.ts";
import { readTurns, readOn } from "../read-events.ts";
import { receiptLine, clean } from "../render/text.ts";
import { type OpenRequest, Transcript } from "../render/transcript.ts";

interface LineEditor {
  /** The line typed so far. */
  line: () => string;
  /** Shows the editor's prompt at the start of the current row. */
  prompt: () => void;
}

const clearRow = "\r\u001b[K";

/** Shares one terminal between output and input: output is held back while a line is being typed. */
export class ChatScreen {
  readonly #write: (text: string) => void;
  readonly #editor: LineEditor;
  #held = "";
  #midLine = false;
  #prompting = false;

  constructor(write: (text: string) => void, editor: LineEditor) {
    this.#write = write;
    this.#editor = editor;
  }

  show(text: string): void {
    this.#held += text;
    this.release();
  }

  /** Writes the held output, unless a line is being typed. */
  release(): void {
    if (this.#held === "" || this.#editor.line() !== "") return;
    if (this.#prompting) this.#write(clearRow);
    this.#prompting = false;
    this.#write(this.#held);
    this.#midLine = !this.#held.endsWith("\n");
    this.#held = "";
  }

  /** Called before a key reaches the editor, and whenever it is the user's turn. */
  prompt(): void {
    if (this.#prompting) return;
    if (this.#midLine) this.#write("\n");
    this.#midLine = false;
    this.#prompting = true;
    this.#editor.prompt();
  }

  /** The editor has moved on to a new row. */
  submitted(): void {
    this.#prompting = false;
    this.#midLine = false;
    this.release();
  }
}

/** Enough for context; the rest is in `acp history`. */
const shownTurns = 3;
/** Ctrl-C and Ctrl-D keep their usual meaning. */
const leaving = new Set(["\u0003", "\u0004"]);
const leavesHint = "Press Ctrl-C again or Ctrl-D to detach. The agent keeps running.";

export async function chat(context: Context, session: SessionJson): Promise<number> {
  const interactive = context.isTerminal(0) && context.isTerminal(1);
  const here = new Chat(context, session, interactive);
  const past = await readTurns(context, session, shownTurns);
  return interactive ? here.inTerminal(past) : here.fromLines(past);
}

class Chat {
  readonly #context: Context;
  readonly #id: string;
  readonly #transcript: Transcript;
  /** Prompts that are on the screen as they were typed. */
  readonly #echoed = new Set<string>();
  /** Our prompts without a reply. */
  readonly #unanswered = new Set<string>();
  #sending: Promise<void> = Promise.resolve();
  #show: (text: string) => void;
  #offered: { requestId: string; at: number } | null = null;
  #leave: () => void = () => undefined;
  /** Called when one of our prompts got its reply, or will get none. */
  #settled: () => void = () => undefined;

  constructor(context: Context, session: SessionJson, interactive: boolean) {
    this.#context = context;
    this.#id = session.id;
    this.#transcript = new Transcript(context.paint, !interactive);
    this.#show = (text) => context.write(text);
  }

  async fromLines(past: Awaited<ReturnType<typeof readTurns>>): Promise<number> {
    const lines = createInterface({ input: process.stdin, terminal: false });
    lines.on("line", (text) => this.#send(text));
    let ended = false;
    const over = new Promise<void>((resolve) => {
      this.#settled = () => (ended && this.#unanswered.size === 0 ? resolve() : undefined);
      lines.once("close", () => {
        ended = true;
        this.#settled();
      });
    });
    this.#show(this.#transcript.replay(past));
    await Promise.race([this.#follow(past.last, () => undefined), over]);
    this.#show(this.#transcript.end());
    return 0;
  }

  async inTerminal(past: Awaited<ReturnType<typeof readTurns>>): Promise<number> {
    const { input, connect } = keyboard(process.stdin);
    const editor = createInterface({ input, output: process.stdout, terminal: true, prompt: "> ", history: [] });
    const screen = new ChatScreen(this.#context.write, { line: () => editor.line, prompt: () => editor.prompt() });
    this.#show = (text) => screen.show(text);
    const rest = (): void => {
      screen.release();
      // Shown once the line is sent or emptied: a typing user would not read it.
      if (editor.line === "") this.#offer();
      if (!this.#transcript.turnOpen) screen.prompt();
    };
    const left = new Promise<void>((resolve) => {
      this.#leave = resolve;
      editor.once("close", resolve);
    });
    editor.on("SIGINT", this.#interrupts(editor, screen));
    editor.on("line", (text) => {
      screen.submitted();
      this.#send(text, !this.#transcript.turnOpen);
      rest();
    });
    connect({
      takes: (typed) => this.#takesKey(typed, editor.line),
      before: () => screen.prompt(),
      after: rest,
    });
    try {
      const { paint } = this.#context;
      screen.show(paint.dim(`${clean(this.#id)}: Ctrl-C cancels a turn, Ctrl-D detaches; the agent keeps running.\n`));
      screen.show(this.#transcript.replay(past));
      rest();
      await Promise.race([this.#follow(past.last, rest), left]);
      await this.#sending;
    } finally {
      editor.close();
      this.#context.write("\n");
    }
    return 0;
  }

  #follow(from: number, afterRead: () => void): Promise<never> {
    let last = from;
    const take = (event: EventJson): void => {
      last = event.seq;
      this.#show(this.#transcript.take(event, this.#echoed));
      if (event.type === "turn.ended" || event.type === "prompt.withdrawn" || event.type === "prompt.doubtful") {
        this.#unanswered.delete(String(event.promptId));
        this.#settled();
      }
    };
    // A lost daemon is reported on the same screen, between lines.
    const context: Context = Object.create(this.#context, {
      err: { value: (text: string) => this.#show(`${this.#context.paint.yellow(text)}\n`) },
      mayStart: { value: false, writable: true },
    }) as Context;
    this.#context.mayStart = false;
    return follow(context, this.#id, async () => {
      await readOn(this.#context, this.#id, last, take);
      afterRead();
    });
  }

  /** One after the other, so that prompts arrive in the order they were typed. */
  #send(text: string, echoed = false): void {
    if (text.trim() === "") return;
    const promptId = randomUUID();
    if (echoed) this.#echoed.add(promptId);
    this.#unanswered.add(promptId);
    const send = async (): Promise<void> => {
      // Its outcome is in the events; the receipt is only needed for a refusal.
      const body = { promptId, text, waitMs: 0 };
      const receipt = await this.#context.call("prompt", { params: { id: this.#id }, body });
      if (receipt.disposition === "refused") throw new Error(receiptLine(receipt));
      if (this.#transcript.turnOpen && !echoed) this.#print("[queued] until this turn ends");
    };
    this.#sending = this.#sending.then(send).catch((error: unknown) => {
      this.#unanswered.delete(promptId);
      this.#print(`[not sent] ${clean(messageOf(error))}`);
      this.#settled();
    });
  }

  #print(text: string): void {
    this.#show(`${this.#context.paint.yellow(text)}\n`);
  }

  /** Shows the keys of the oldest open permission request, once. */
  #offer(): void {
    const [question] = this.#transcript.questions;
    if (question === undefined || question.requestId === this.#offered?.requestId) return;
    this.#offered = { requestId: question.requestId, at: this.#context.now() };
    this.#show(`${keysLine(question, this.#context.paint)}\n`);
  }

  /** While a permission request is open, keys only answer it, unless a line was started before. */
  #takesKey(typed: string, line: string): boolean {
    const [question] = this.#transcript.questions;
    if (question === undefined || line !== "" || leaving.has(typed)) return false;
    const isShown = this.#offered?.requestId === question.requestId;
    const shownForMs = isShown ? this.#context.now() - (this.#offered?.at ?? 0) : 0;
    const option = chosenBy(typed, question, shownForMs);
    if (option !== null) void this.#answer(question, option);
    return true;
  }

  async #answer({ requestId }: OpenRequest, { optionId }: PermissionOption): Promise<void> {
    try {
      const answer = await this.#context.call("answer", { params: { id: this.#id }, body: { requestId, optionId } });
      if (!answer.answered) this.#print(`[not answered] ${clean(answer.reason ?? "")}`);
    } catch (error) {
      this.#print(`[not answered] ${clean(messageOf(error))}`);
    }
  }

  #interrupts(editor: Interface, screen: ChatScreen): () => void {
    let lastAt = -Infinity;
    return () => {
      const now = this.#context.now();
      const state = { sinceLastMs: now - lastAt, hasLine: editor.line !== "", turnOpen: this.#transcript.turnOpen };
      lastAt = now;
      switch (meaningOfInterrupt(state)) {
        case "leave":
          return this.#leave();
        case "clear-line":
          // The editor's own keys for it: only the editor knows its rows.
          editor.write(null, { ctrl: true, name: "e" });
          editor.write(null, { ctrl: true, name: "u" });
          return screen.release();
        case "cancel":
          this.#print(`[cancelling] ${leavesHint}`);
          return void this.#cancel();
        case "show-hint":
          this.#print(leavesHint);
          return screen.prompt();
      }
    };
  }

  async #cancel(): Promise<void> {
    try {
      const { cancelled, reason } = await this.#context.call("cancel", { params: { id: this.#id }, body: {} });
      if (!cancelled) this.#print(clean(reason ?? "The turn was not cancelled."));
    } catch (error) {
      this.#print(clean(messageOf(error)));
    }
  }
}

interface Keys {
  /** Whether these keys are handled here instead of by the editor. */
  takes: (typed: string) => boolean;
  before: () => void;
  after: () => void;
}

/** Passes keys to the line editor, except those that answer a permission request. */
function keyboard(stdin: ReadStream): { input: NodeJS.ReadableStream; connect: (keys: Keys) => void } {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => stdin.setRawMode(raw) });
  const connect = ({ takes, before, after }: Keys): void => {
    stdin.on("data", (bytes: Buffer) => {
      if (takes(bytes.toString())) return;
      before();
      input.write(bytes);
      // By then the editor has processed it.
      setImmediate(after);
    });
    // The terminal was closed.
    stdin.once("end", () => input.end());
  };
  return { input, connect };
}
