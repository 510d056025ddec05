/**
 * A conversation of the demo agent: JSON lines in a file named after its id, so that a resume has context. The terminal
 * writes one line per turn; the chat writes the prompt, then each part of the reply before it is shown. Both read both.
 */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseObject } from "../../base/attempt.ts";

export interface DemoTurn {
  prompt: string;
  reply: string;
  /** What the chat showed, in order; absent for a turn of the terminal. */
  parts?: DemoPart[];
}

/** Words of a reply, or anything else that was shown (a thought, a tool call, a plan). */
export type DemoPart = { said: string } | { shown: object };

const idPattern = /^[A-Za-z0-9-]{1,64}$/;

/** Where conversations are kept: with the user's other state, outside any worktree. */
export function conversationsDirectory(env: NodeJS.ProcessEnv): string {
  const own = env["HOLDFAST_DEMO_CONVERSATIONS"];
  if (own !== undefined && own !== "") return own;
  const state = env["XDG_STATE_HOME"];
  return join(
    state === undefined || state === "" ? join(env["HOME"] ?? homedir(), ".local/state") : state,
    "holdfast-demo",
  );
}

export class DemoConversation {
  readonly id: string;
  readonly #file: string;
  readonly #turns: DemoTurn[];
  /** Where a chat was begun; null for one that a terminal began. */
  readonly cwd: string | null;
  #removed = false;

  private constructor(id: string, file: string, turns: DemoTurn[], cwd: string | null) {
    this.id = id;
    this.#file = file;
    this.#turns = turns;
    this.cwd = cwd;
  }

  /** A new one; an id that exists already is refused, as real agents do. */
  static create(directory: string, id: string, cwd: string | null = null): DemoConversation | null {
    const file = fileOf(directory, id);
    if (file === null || existsSync(file)) return null;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    appendFileSync(file, cwd === null ? "" : `${JSON.stringify({ cwd })}\n`, { mode: 0o600 });
    return new DemoConversation(id, file, [], cwd);
  }

  static resume(directory: string, id: string): DemoConversation | null {
    const file = fileOf(directory, id);
    if (file === null || !existsSync(file)) return null;
    const text = readFileSync(file, "utf8");
    // A line that a crash cut off must not swallow the next one.
    if (text !== "" && !text.endsWith("\n")) appendFileSync(file, "\n");
    const lines = text
      .split("\n")
      .map((line): ConversationLine | null => parseObject(line))
      .filter((line) => line !== null);
    return new DemoConversation(id, file, turnsOf(lines), lines.find(({ cwd }) => cwd !== undefined)?.cwd ?? null);
  }

  get turns(): readonly DemoTurn[] {
    return this.#turns;
  }

  add(turn: DemoTurn): void {
    this.#turns.push(turn);
    this.#append(turn);
  }

  /** Opens a turn whose reply comes in parts, so that a crash at any moment keeps what was there. */
  begin(prompt: string): void {
    this.#turns.push({ prompt, reply: "", parts: [] });
    this.#append({ prompt });
  }

  addPart(part: DemoPart): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined) return;
    takePart(turn, part);
    this.#append(part);
  }

  /** A turn that is still running when its conversation is removed does not bring the file back. */
  remove(): void {
    this.#removed = true;
    rmSync(this.#file, { force: true });
  }

  #append(line: object): void {
    if (!this.#removed) appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  /** What is remembered: the count proves that nothing was lost, the digest that it is the same conversation. */
  describe(): string {
    const digest = createHash("sha256")
      .update(this.#turns.map(({ prompt }) => prompt).join("\n\n"))
      .digest("hex");
    const replies = this.#turns.filter(({ reply }) => reply !== "").length;
    return `history: turns=${this.#turns.length} digest=${digest.slice(0, 8)} replies=${replies}`;
  }
}

function fileOf(directory: string, id: string): string | null {
  return idPattern.test(id) ? join(directory, `${id}.jsonl`) : null;
}

interface ConversationLine {
  cwd?: string;
  prompt?: string;
  reply?: string;
  said?: string;
  shown?: object;
}

function turnsOf(lines: ConversationLine[]): DemoTurn[] {
  const turns: DemoTurn[] = [];
  for (const { prompt, reply, said, shown } of lines) {
    const open = turns.at(-1);
    if (typeof prompt === "string")
      turns.push(typeof reply === "string" ? { prompt, reply } : { prompt, reply: "", parts: [] });
    else if (open !== undefined && typeof said === "string") takePart(open, { said });
    else if (open !== undefined && shown !== undefined) takePart(open, { shown });
  }
  return turns;
}

function takePart(turn: DemoTurn, part: DemoPart): void {
  if ("said" in part) turn.reply += part.said;
  (turn.parts ??= []).push(part);
}
