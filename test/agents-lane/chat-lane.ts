/** One real agent in a chat session under the real daemon, with its own model server. `await using` stops all of it. */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SocketTransport } from "../../src/cli/system/daemon/socket-transport.ts";
import { createClient, type Client } from "../../src/client/client.ts";
import type { ConfigureRequest } from "../../src/contract/chat.ts";
import type { PromptRequest } from "../../src/contract/prompt.ts";
import type { Output } from "../../src/contract/operations.ts";
import type { SessionJson } from "../../src/contract/session.ts";
import type { EventFields } from "../harness/project.ts";
import { isRunning, markedProcesses, type Marked } from "../harness/marked.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";
import { startModelServer, type ModelServer } from "../model-server/server.ts";
import { laneAgents, prepareRealAgent, type RealAgent } from "./agents/agents.ts";

/** A cold start of the slowest takes nearly a minute on two very busy cores; Gemini may first wait for the next minute. */
export const patienceMs = 120_000;

export class ChatLane implements AsyncDisposable {
  readonly agent: RealAgent;
  readonly model: ModelServer;
  readonly home: ProjectHome;
  readonly #client: Client;
  readonly #env: Record<string, string>;
  id = "";
  workspace = "";

  private constructor(agent: RealAgent, model: ModelServer, home: ProjectHome, env: Record<string, string>) {
    this.#env = env;
    this.agent = agent;
    this.model = model;
    this.home = home;
    this.#client = createClient({ transport: new SocketTransport(home.paths.socket) });
  }

  /** `prepare` is called while no daemon runs, before the home is used; `addressOf` returns the model's URL as the agent sees it. */
  static async open(
    agent: RealAgent,
    prepare: (home: ProjectHome) => void = () => undefined,
    addressOf: (url: string) => string = (url) => url,
  ): Promise<ChatLane> {
    const model = await startModelServer({ logBodies: true });
    const home = await ProjectHome.make();
    const folders = [home.repo, join(home.paths.worktrees, "my-app", "ma-1")];
    const agentHome = join(home.directory, "agent");
    const env = prepareRealAgent(agent, { home: agentHome, modelUrl: addressOf(model.url), folders, chat: true });
    const words = Object.entries(env).map(([key, value]) => `      ${key}: ${JSON.stringify(value)}`);
    const head = ["projects:", "  my-app:", "    path: .", "    prefix: ma", `    agent: ${agent}`, "    kind: chat"];
    writeFileSync(join(home.repo, "holdfast.yaml"), [...head, "    env:", ...words, ""].join("\n"));
    // The daemon finds the agent's command where the lane installed it.
    home.env["PATH"] = env["PATH"]!;
    await home.ok(["stop"]);
    prepare(home);
    await home.ok(["start", "--port", "0"]);
    await home.ok(["project", "add", home.repo]);
    return new ChatLane(agent, model, home, env);
  }

  async spawn(prompt: string, ...options: string[]): Promise<void> {
    const args = ["spawn", "my-app", ...options, "--prompt", prompt];
    const session = await this.home.json(args, { timeoutMs: patienceMs });
    this.id = session.id;
    this.workspace = session.workspacePath;
  }

  /** Sends a prompt without waiting for its turn. */
  async send(text: string, attachments: NonNullable<PromptRequest["attachments"]> = []): Promise<string> {
    const promptId = randomUUID();
    const body = { promptId, text, attachments, waitMs: patienceMs };
    const receipt = await this.#client.call("prompt", { params: { id: this.id }, body });
    if (receipt.disposition !== "delivered") throw new Error(`${receipt.disposition}: ${receipt.reason}`);
    return promptId;
  }

  /** The complete turn of a prompt. */
  async turn(text: string): Promise<TurnSeen> {
    return this.ended(await this.send(text));
  }

  answer(requestId?: string): Promise<Output<"answer">> {
    const body = { answer: "allow" as const, ...(requestId === undefined ? {} : { requestId }) };
    return this.#client.call("answer", { params: { id: this.id }, body });
  }

  configure(body: ConfigureRequest): Promise<SessionJson> {
    return this.#client.call("configure", { params: { id: this.id }, body });
  }

  restartAgent(): Promise<Output<"acpRestart">> {
    return this.#client.call("acpRestart", { params: { id: this.id }, body: {} });
  }

  delete(): Promise<Output<"delete">> {
    return this.#client.call("delete", { params: { id: this.id }, body: {} });
  }

  /** One of the agent's own commands, as the user would run it. */
  async own(...command: string[]): Promise<string> {
    const { stdout } = await this.home.run(command[0]!, command.slice(1), {
      cwd: this.home.repo,
      env: this.#env,
      timeoutMs: patienceMs,
    });
    return stdout;
  }

  show(): Promise<SessionJson> {
    return this.#client.call("session", { params: { id: this.id } });
  }

  events(): Promise<EventFields[]> {
    return this.#client.call("events", { params: { id: this.id }, query: { limit: 5000 } });
  }

  pid(session: SessionJson, what: "agent" | "keeper" | "feeder" = "agent"): number {
    const found = session.processes.find((one) => one.what === what);
    if (found === undefined) throw new Error(`no ${what}: ${session.status} ${session.reason ?? ""}`);
    return found.pid;
  }

  /** The recorded turn of a prompt; `first` for the spawn's. */
  async seen(promptId: string): Promise<TurnSeen> {
    const events = await this.events();
    const from = events.findIndex((event) => event.type === "turn.started" && event["promptId"] === promptId);
    const turn: TurnSeen = { text: "", stopReason: null, ends: 0 };
    if (from < 0) return turn;
    for (const event of events.slice(from + 1)) {
      if (event.type === "turn.started") break;
      if (event.type === "agent.text") turn.text += String(event["text"]);
      if (event.type === "turn.ended") {
        turn.stopReason = String(event["stopReason"]);
        turn.ends++;
      }
    }
    return turn;
  }

  async ended(promptId: string): Promise<TurnSeen> {
    return this.#explained("the turn to end", async () => {
      const turn = await this.seen(promptId);
      return turn.stopReason === null ? null : turn;
    });
  }

  async said(promptId: string, words: string): Promise<void> {
    await this.#explained(`"${words}"`, async () => (await this.seen(promptId)).text.includes(words));
  }

  async asked(): Promise<SessionJson["permissions"][number]> {
    return this.#explained("a question", async () => (await this.show()).permissions[0]);
  }

  async types(): Promise<string[]> {
    return (await this.events()).map(({ type }) => type);
  }

  /** As if the user had deleted the agent's files. */
  forgetConversations(): void {
    for (const name of laneAgents[this.agent].conversations) {
      rmSync(join(this.home.directory, "agent", name), { recursive: true, force: true });
    }
  }

  /** The agent's own files that are text. */
  async transcriptSays(pattern: RegExp): Promise<void> {
    await until(
      `the transcript to hold ${pattern}`,
      () => this.transcripts().some((text) => pattern.test(text)),
      patienceMs,
    );
  }

  transcripts(): string[] {
    const folders = laneAgents[this.agent].conversations.map((name) => join(this.home.directory, "agent", name));
    return folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")),
    );
  }

  /** The agent's output, read without the daemon. */
  out(): string {
    return this.#file("out");
  }

  /** The agent's input. */
  input(): string {
    return this.#file("in");
  }

  #file(name: "in" | "out"): string {
    const directory = join(this.home.paths.workers, this.id);
    const launches = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return launches.map((launch) => readFileSync(join(directory, launch.name, name), "utf8")).join("");
  }

  async outSays(pattern: RegExp): Promise<void> {
    await until(`the agent to write ${pattern}`, () => pattern.test(this.out()), patienceMs);
  }

  /** The agent's complete process tree with keeper and tools, without the daemon. */
  tree(): Marked[] {
    const home = new Set(markedProcesses(`HOLDFAST_HOME=${this.home.home}`).map(({ pid }) => pid));
    return markedProcesses(`HOLDFAST_SESSION=${this.id}`).filter(({ pid }) => home.has(pid));
  }

  /** A different agent process, up and idle. */
  async replaced(pid: number): Promise<number> {
    return this.#explained("another agent", async () => {
      const session = await this.show();
      const now = session.processes.find(({ what }) => what === "agent")?.pid;
      return session.status === "idle" && now !== undefined && now !== pid && isRunning(now) ? now : null;
    });
  }

  async #explained<T>(what: string, look: () => Promise<T>): Promise<NonNullable<Exclude<T, false>>> {
    try {
      return (await until(`${this.agent}: ${what}`, look, patienceMs)) as NonNullable<Exclude<T, false>>;
    } catch (error) {
      const events = await this.events().catch(() => []);
      const lines = events.map((event) => JSON.stringify(event).slice(0, 300)).slice(-40);
      throw new Error([String(error), ...lines, this.home.logTail()].join("\n"), { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.home[Symbol.asyncDispose]();
    await this.model.close();
  }
}

export interface TurnSeen {
  text: string;
  stopReason: string | null;
  /** How often it ended: once. */
  ends: number;
}
