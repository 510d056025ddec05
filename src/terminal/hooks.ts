/**
 * Reads what an agent's hooks reported: one JSON object per line in the launch's `hooks.jsonl`, appended by the hook
 * script. Each read continues where the last one ended. Only complete lines count.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { parseObject } from "../base/attempt.ts";
import { LineSplitter } from "../base/lines.ts";
import type { HookRule } from "../ports/agents.ts";
import type { Activity } from "../contract/ids.ts";

export interface HookState {
  activity: { activity: Activity; at: number; reason: string } | null;
  agentSessionId: string | null;
  /** The end of its last message. */
  lastMessage: string | null;
}

/** Below the launch's directory. */
export const hookFileName = "hooks.jsonl";

/** A hook's line contains a prompt or a message at most. */
const maxLineBytes = 4 * 1024 * 1024;
/** A daemon that was down for days reads only the end: only the latest lines count. */
const maxReadBytes = 8 * 1024 * 1024;
/** How many confirmed prompts are remembered, for `send` to find its own. */
const keptPrompts = 20;
const chunkBytes = 64 * 1024;
/** More than the one line that is shown. */
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

  /** The latest confirmed prompt, and when its line was written. */
  get lastPrompt(): { text: string; at: number } | null {
    return this.#prompts.at(-1) ?? null;
  }

  promptsSince(mark: number): string[] {
    const fresh = Math.min(this.#promptCount - mark, this.#prompts.length);
    return fresh <= 0 ? [] : this.#prompts.slice(-fresh).map((prompt) => prompt.text);
  }

  /** Reads new lines; returns whether there were any. */
  read(): boolean {
    // Called for every session at every observation: mostly nothing was added, or no hook has fired yet.
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
    // Shorter than what was read: it was truncated, so start over.
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
    // An agent may change its conversation (`/clear`): the latest id counts.
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
