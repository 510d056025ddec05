/** A conversation of the demo agent: one JSON line a turn in a file named after its id, so that a resume has context. */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface DemoTurn {
  prompt: string;
  reply: string;
}

const idPattern = /^[A-Za-z0-9-]{1,64}$/;

/** Where conversations are kept: with the person's other state, outside any worktree. */
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

  private constructor(id: string, file: string, turns: DemoTurn[]) {
    this.id = id;
    this.#file = file;
    this.#turns = turns;
  }

  /** A new one; an id that exists already is refused, as real agents do. */
  static create(directory: string, id: string): DemoConversation | null {
    const file = fileOf(directory, id);
    if (file === null || existsSync(file)) return null;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    appendFileSync(file, "", { mode: 0o600 });
    return new DemoConversation(id, file, []);
  }

  static resume(directory: string, id: string): DemoConversation | null {
    const file = fileOf(directory, id);
    if (file === null || !existsSync(file)) return null;
    return new DemoConversation(id, file, readFileSync(file, "utf8").split("\n").flatMap(parseTurn));
  }

  get turns(): readonly DemoTurn[] {
    return this.#turns;
  }

  add(turn: DemoTurn): void {
    this.#turns.push(turn);
    appendFileSync(this.#file, `${JSON.stringify(turn)}\n`);
  }

  /** What is remembered: the count proves that nothing was lost, the digest that it is the same conversation. */
  describe(): string {
    const digest = createHash("sha256")
      .update(this.#turns.map(({ prompt }) => prompt).join("\n\n"))
      .digest("hex");
    return `history: turns=${this.#turns.length} digest=${digest.slice(0, 8)} replies=${this.#turns.length}`;
  }
}

function fileOf(directory: string, id: string): string | null {
  return idPattern.test(id) ? join(directory, `${id}.jsonl`) : null;
}

/** A line that a crash cut off is no turn. */
function parseTurn(line: string): DemoTurn[] {
  try {
    const turn = JSON.parse(line) as Partial<DemoTurn>;
    return typeof turn.prompt === "string" && typeof turn.reply === "string"
      ? [{ prompt: turn.prompt, reply: turn.reply }]
      : [];
  } catch {
    return [];
  }
}
