/**
 * A home whose sessions are chats. It queries the daemon over its socket, without a process per query, and inspects
 * the files and processes of a session directly.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync, mkdirSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { EventFields } from "./project.ts";
import { markedProcesses, type Marked } from "./marked.ts";
import { ProjectHome } from "./project.ts";
import { until } from "./until.ts";

/** One of test/acp-agents, with its environment. */
export interface TestAgent {
  program: string;
  env?: Record<string, string>;
}

export interface Turn {
  promptId: string | null;
  text: string;
  /** Null while it is open. */
  stopReason: string | null;
}

const agentsDirectory = join(import.meta.dirname, "../acp-agents");

export class ChatHome extends ProjectHome {
  readonly gates = join(this.directory, "gates");

  static async open(agents: Record<string, TestAgent> = {}, env: Record<string, string> = {}): Promise<ChatHome> {
    const home = new ChatHome(env);
    await home.begin(agents);
    return home;
  }

  /** Starts the daemon with a project; separate from `open` for a home that must be prepared first. */
  async begin(agents: Record<string, TestAgent> = {}): Promise<void> {
    mkdirSync(this.gates);
    await this.ok(["start", "--port", "0"]);
    this.repo = await this.repository("my-app");
    this.configure(agents);
    await this.ok(["project", "add", this.repo]);
  }

  /** JSON is YAML. */
  configure(agents: Record<string, TestAgent>): void {
    const defined = Object.entries(agents).map(([id, { program, env = {} }]) => [
      id,
      { chat: { command: [process.execPath, join(agentsDirectory, `${program}.ts`)] }, env },
    ]);
    const projects = { "my-app": { path: ".", prefix: "ma", env: { HOLDFAST_DEMO_GATES: this.gates } } };
    const config = { projects, ...(defined.length === 0 ? {} : { agents: Object.fromEntries(defined) as object }) };
    writeFileSync(join(this.repo, "holdfast.yaml"), JSON.stringify(config));
  }

  /** Starts a chat and returns its id; without a prompt the agent waits. */
  async chat(prompt?: string, agent = "demo"): Promise<string> {
    const body = { project: "my-app", agent, kind: "chat" as const, ...(prompt === undefined ? {} : { prompt }) };
    return (await this.call("spawn", "", { body })).id;
  }

  /** Its receipt reports the delivery, and with `waitForTurn` how the turn ended. */
  send(id: string, text: string, more: { promptId?: string; waitForTurn?: boolean; waitMs?: number } = {}) {
    return this.call("prompt", id, { body: { promptId: randomUUID(), text, ...more } });
  }

  /** A complete turn: the agent's text and how the turn ended. */
  async turn(id: string, text: string): Promise<{ stopReason: string; text: string }> {
    const receipt = await this.send(id, text, { waitForTurn: true });
    if (receipt.turn === undefined) throw new Error(`no turn: ${JSON.stringify(receipt)}`);
    return receipt.turn;
  }

  answer(id: string, body: { requestId?: string; optionId?: string; answer?: "allow" | "deny" } = {}) {
    return this.call("answer", id, { body });
  }

  /** Many of these tests query while no daemon runs. */
  protected override orStarted<T>(ask: () => Promise<T>): Promise<T> {
    return ask();
  }

  async ofType(id: string, type: string): Promise<EventFields[]> {
    return (await this.events(id)).filter((event) => event.type === type);
  }

  async turns(id: string): Promise<Turn[]> {
    const turns: Turn[] = [];
    for (const event of await this.events(id)) {
      const open = turns.at(-1);
      if (event.type === "turn.started")
        turns.push({ promptId: event["promptId"] as string | null, text: "", stopReason: null });
      else if (event.type === "agent.text" && open !== undefined) open.text += event["text"] as string;
      else if (event.type === "turn.ended" && open !== undefined) {
        if (open.stopReason !== null) throw new Error(`a turn of ${id} ended twice`);
        open.stopReason = event["stopReason"] as string;
      }
    }
    return turns;
  }

  /** Waits until this many turns have ended. */
  ended(id: string, count = 1, deadlineMs?: number): Promise<Turn[]> {
    const look = async (): Promise<Turn[]> => {
      const turns = await this.turns(id);
      if (turns.filter(({ stopReason }) => stopReason !== null).length >= count) return turns;
      throw new Error(JSON.stringify(turns));
    };
    return until(`${count} turns of ${id} to end`, look, deadlineMs);
  }

  /** The agent's text of all turns. */
  async said(id: string): Promise<string> {
    return (await this.ofType(id, "agent.text")).map((event) => event["text"] as string).join("");
  }

  async says(id: string, words: string): Promise<void> {
    await until(`${id} to say ${words}`, async () => (await this.said(id)).includes(words));
  }

  openGate(name: string): void {
    writeFileSync(join(this.gates, name), "");
  }

  /** The process of that part of a session: agent, keeper, feeder. */
  async pidOf(id: string, what: string): Promise<number> {
    const { processes } = await this.show(id);
    const found = processes.find((one) => one.what === what);
    if (found === undefined) throw new Error(`${id} has no ${what}: ${JSON.stringify(processes)}`);
    return found.pid;
  }

  /** All processes of a session, however they were detached. */
  tree(id: string): Marked[] {
    return markedProcesses(`HOLDFAST_SESSION=${id}`).filter(({ pid }) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`HOLDFAST_HOME=${this.home}`);
      } catch {
        return false;
      }
    });
  }

  /** The directory of the only launch. */
  launchDirectory(id: string): string {
    const session = join(this.paths.workers, id);
    const names = readdirSync(session, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() && !entry.name.startsWith("."),
    );
    if (names.length !== 1) throw new Error(`${id} has ${names.length} launches`);
    return join(session, names[0]!.name);
  }

  /** The agent's output, whether or not a daemon has read it. */
  output(id: string): string {
    const out = join(this.launchDirectory(id), "out");
    return existsSync(out) ? readFileSync(out, "utf8") : "";
  }
}
