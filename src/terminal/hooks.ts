/**
 * What an agent's hooks said: one JSON object a line in the launch's `hooks.jsonl`, appended by the agent's own hook
 * script, read on from where the last look ended. Only complete lines count.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { parseObject } from "../base/attempt.ts";
import { LineSplitter } from "../base/lines.ts";
import type { HookRule } from "../ports/agents.ts";
import type { Activity } from "../contract/ids.ts";

export interface HookState {
  activity: { activity: Activity; at: number; reason: string } | null;
  agentSessionId: string | null;
  /** The end of what it said last. */
  lastMessage: string | null;
}

/** Below the launch's directory. */
export const hookFileName = "hooks.jsonl";

/** A hook's line holds a prompt or an answer at most. */
const maxLineBytes = 4 * 1024 * 1024;
/** A daemon that comes back after days reads the end only: what counts is the latest. */
const maxReadBytes = 8 * 1024 * 1024;
/** Prompts that the agent confirmed lately, for `send` to find its own. */
const keptPrompts = 20;
const chunkBytes = 64 * 1024;
/** More than the one line of it that is shown. */
const maxMessageChars = 1_000;

export class HookReader {
  readonly #path: string;
  readonly #rules: readonly HookRule[];
  #offset = 0;
  #splitter: LineSplitter | null = null;
  #prompts: { text: string; at: number }[] = [];
  #promptCount = 0;
  state: HookState = { activity: null, agentSessionId: null, lastMessage: null };

  constructor(path: string, rules: readonly HookRule[]) {
    this.#path = path;
    this.#rules = rules;
  }

  /** How many prompts the agent has confirmed so far: a mark for `promptsSince`. */
  get promptMark(): number {
    return this.#promptCount;
  }

  /** The prompt that the agent confirmed last, and when its line was found. */
  get lastPrompt(): { text: string; at: number } | null {
    return this.#prompts.at(-1) ?? null;
  }

  promptsSince(mark: number): string[] {
    const fresh = Math.min(this.#promptCount - mark, this.#prompts.length);
    return fresh <= 0 ? [] : this.#prompts.slice(-fresh).map((prompt) => prompt.text);
  }

  /** Reads what was added; says whether anything was. */
  read(): boolean {
    // Asked on every check every session: most of the time nothing was added, or no hook has fired yet.
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size;
    if (size === undefined || size === this.#offset) return false;
    const file = openSync(this.#path, "r");
    try {
      return this.#readFrom(file);
    } finally {
      closeSync(file);
    }
  }

  #readFrom(file: number): boolean {
    const { size, mtimeMs } = fstatSync(file);
    // Shorter than what was read: somebody truncated it, so start again.
    if (size < this.#offset) this.#restart(0);
    if (size === this.#offset) return false;
    const cutOff = size - this.#offset > maxReadBytes;
    if (cutOff) this.#restart(size - maxReadBytes);
    this.#splitter ??= new LineSplitter(maxLineBytes, this.#offset);
    const buffer = Buffer.alloc(Math.min(chunkBytes, size - this.#offset));
    let skipFirst = cutOff;
    while (this.#offset < size) {
      const count = readSync(file, buffer, 0, Math.min(buffer.length, size - this.#offset), this.#offset);
      if (count === 0) break;
      this.#offset += count;
      for (const line of this.#splitter.push(buffer.subarray(0, count))) {
        if (line.line === "complete" && !skipFirst) this.#take(line.text, Math.round(mtimeMs));
        skipFirst = false;
      }
    }
    return true;
  }

  #restart(offset: number): void {
    this.#offset = offset;
    this.#splitter = null;
  }

  #take(text: string, at: number): void {
    const line = parseObject(text);
    const event = line?.["event"];
    if (line === null || typeof event !== "string") return;
    const rule = this.#rules.find((candidate) => candidate.event === event);
    if (rule === undefined) return;
    if (rule.activity !== null) this.state.activity = { activity: rule.activity, at, reason: rule.reason ?? event };
    const id = rule.idField === undefined ? null : textField(line, rule.idField);
    // An agent may change its conversation (`/clear`): the id that it reports last is the one.
    if (id !== null) this.state.agentSessionId = id;
    const message = rule.messageField === undefined ? null : textField(line, rule.messageField);
    if (message !== null) this.state.lastMessage = message.slice(-maxMessageChars);
    const prompt = rule.promptField === undefined ? null : textField(line, rule.promptField);
    if (prompt !== null) {
      this.#prompts = [...this.#prompts, { text: prompt, at }].slice(-keptPrompts);
      this.#promptCount += 1;
    }
  }
}

/** A field, or one inside another by `outer.inner`. */
function textField(line: Record<string, unknown>, path: string): string | null {
  let at: unknown = line;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null) return null;
    at = (at as Record<string, unknown>)[name];
  }
  return typeof at === "string" && at !== "" ? at : null;
}
