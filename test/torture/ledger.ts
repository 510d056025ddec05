/**
 * Ledgers outside of the product. Agents append one line per action or input (one small write each, so lines of
 * several agents never mix); clients record each request with its response here as well.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync } from "node:fs";

export interface AgentLine {
  at: number;
  session: string;
  launch: string;
  pid: number;
  event: "started" | "work" | "prompt" | "chunk" | "turn" | "asked" | "answer" | "signal";
  /** Text of a prompt or chunk, stop reason, option, checksum. */
  value?: string;
}

export class AgentLedger {
  readonly path: string;
  #read = 0;
  #held = "";
  readonly #lines: AgentLine[] = [];
  readonly #by = new Map<string, AgentLine[]>();

  constructor(path: string) {
    this.path = path;
  }

  /** Everything so far; reads only what was added. */
  lines(): readonly AgentLine[] {
    if (!existsSync(this.path)) return this.#lines;
    const file = openSync(this.path, "r");
    try {
      const buffer = Buffer.alloc(1 << 16);
      for (;;) {
        const count = readSync(file, buffer, 0, buffer.length, this.#read);
        if (count === 0) break;
        this.#read += count;
        const parts = (this.#held + buffer.toString("latin1", 0, count)).split("\n");
        this.#held = parts.pop() ?? "";
        for (const part of parts) if (part !== "") this.#add(JSON.parse(part) as AgentLine);
      }
    } finally {
      closeSync(file);
    }
    return this.#lines;
  }

  /** Called many times per second while agents emit hundreds of thousands of chunks. */
  of(session: string, event: AgentLine["event"]): readonly AgentLine[] {
    this.lines();
    return this.#by.get(`${session} ${event}`) ?? [];
  }

  #add(line: AgentLine): void {
    this.#lines.push(line);
    const key = `${line.session} ${line.event}`;
    const known = this.#by.get(key);
    if (known === undefined) this.#by.set(key, [line]);
    else known.push(line);
  }

  sessions(): string[] {
    return [...new Set(this.lines().map(({ session }) => session))];
  }

  text(): string {
    return existsSync(this.path) ? readFileSync(this.path, "utf8") : "";
  }
}

/** `ok`: answered. `refused`: answered with an error; it changed nothing. `cut`: no response; it may have taken effect. */
export type Fate = "ok" | "refused" | "cut";

export interface Request {
  client: number;
  verb: string;
  session: string | null;
  from: number;
  to: number;
  fate: Fate;
  error: string | null;
}

export class RequestLedger {
  readonly requests: Request[] = [];

  of(session: string): Request[] {
    return this.requests.filter((one) => one.session === session);
  }
}
