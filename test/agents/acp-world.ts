/**
 * A chat runtime for one test, with a real store and agents from ../acp-agents. `restart` leaves everything as a
 * dying daemon would and opens it again. `await using` stops what is left.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { bootId, readStat } from "../../src/base/pid.ts";
import { createIngest } from "../../src/chat/ingest.ts";
import type { AgentDefinition, Agents, ChatAgent } from "../../src/ports/agents.ts";
import type { ChatRuntime } from "../../src/ports/chat.ts";
import type { LaunchResult, Runtime } from "../../src/ports/runtime.ts";
import type { Store } from "../../src/ports/store.ts";
import type { FactEvent, StoredEvent } from "../../src/contract/event.ts";
import {
  asLaunchId,
  asProjectId,
  asPromptId,
  asSessionId,
  type LaunchHow,
  type SessionId,
} from "../../src/contract/ids.ts";
import type { SessionState } from "../../src/model/session.ts";
import { openAcpRuntime, type AcpRuntimeOptions } from "../../src/chat/runtime.ts";
import { readPids } from "../../src/chat/agent-files.ts";
import type { Behaviour, RuntimeWorld } from "../../src/ports/runtime-contract.fixture.ts";
import { openStore } from "../../src/store/open.ts";
import { homePrefix, homesDirectory } from "../harness/home.ts";
import { endMarked, markedProcesses } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

const root = join(import.meta.dirname, "../..");
const behaviours: Record<Behaviour, string> = {
  waits: "answers-twice",
  "forks-a-child": "setsids-children",
  "ignores-sigterm": "ignores-sigterm",
  "setsids-away": "setsids-children",
  "exits-at-once": "exits-at-once",
};

export class AcpWorld implements RuntimeWorld, AsyncDisposable {
  readonly directory = mkdtempSync(join(homesDirectory, homePrefix(process.env["HOLDFAST_TEST_RUN"] ?? "alone")));
  readonly workers = join(this.directory, "acp-workers");
  readonly gates = join(this.directory, "gates");
  readonly #work = join(this.directory, "work");
  readonly #keeper = join(this.directory, "keeper.sh");
  readonly #agents = new Map<string, AgentDefinition>();
  readonly #opened: { runtime: ChatRuntime; store: Store; close: () => void }[] = [];
  #sessions = 0;
  store!: Store;
  runtime!: ChatRuntime;

  constructor(over: Partial<AcpRuntimeOptions> = {}) {
    mkdirSync(this.#work);
    mkdirSync(this.gates);
    copyFileSync(new URL("../../src/chat/keeper.sh", import.meta.url), this.#keeper);
    this.start(over);
  }

  /** Like a daemon that starts now. */
  start(over: Partial<AcpRuntimeOptions> = {}, quietMs = 60_000): void {
    const agents: Agents = {
      of: ({ agent }) => this.#agents.get(agent) ?? null,
      list: () => [...this.#agents.values()],
    };
    const store = openStore({
      path: join(this.directory, "holdfast.db"),
      backupsDirectory: join(this.directory, "backups"),
      reservePath: null,
      now: Date.now,
    });
    const { ingest, close } = createIngest({ store, agents }, { quietMs });
    this.store = store;
    this.runtime = openAcpRuntime({
      workersDirectory: this.workers,
      keeperPath: this.#keeper,
      agents,
      bootId: bootId(),
      env: this.#environment(),
      buildOf: ({ agent }) => this.#agents.get(agent)?.chat?.command.join(" ") ?? "",
      store,
      ingest,
      stillOurs: () => true,
      ...over,
    });
    this.#opened.push({ runtime: this.runtime, store, close });
  }

  /** The daemon dies: nothing more is stored, whatever is in progress. */
  die(): void {
    this.store.close();
    void this.runtime.close();
  }

  restart(over: Partial<AcpRuntimeOptions> = {}): void {
    this.die();
    this.start(over);
  }

  open(): Runtime {
    return this.runtime;
  }

  session(behaviour: Behaviour): SessionState {
    const env: Record<string, string> = behaviour === "exits-at-once" ? { EXITS_WITH: "3" } : {};
    return this.planned(behaviours[behaviour], { env });
  }

  /** A session as it would be stored, but without a store. */
  planned(program: string, agent: Partial<ChatAgent> = {}): SessionState {
    const id = this.#register(program, agent);
    const created = this.#created(id);
    void this.store.create(created, [this.#ready()]);
    return {
      ...created,
      workspace: { at: "ready" },
      intent: { want: "running", by: "person", at: 0, seq: 1 },
      run: { run: "none" },
      turn: { turn: "none" },
      queue: [],
      permissions: [],
      picks: { config: {} },
      agentSessionId: null,
      conversationSince: null,
      prompted: false,
      activity: null,
      crashes: [],
      resumeFailures: 0,
      pullRequest: null,
      createdAt: 0,
      lastActivityAt: 0,
      seq: 2,
    };
  }

  /** A stored session of one of the agents; `demo` is the bundled one. */
  async create(program: string, agent: Partial<ChatAgent> = {}): Promise<SessionId> {
    const id = this.#register(program, agent);
    return (await this.store.create(this.#created(id), [this.#ready()])).id;
  }

  /** Launches as the daemon would: recorded before the start, and again when it is up. */
  async launch(id: SessionId, how: LaunchHow = "fresh"): Promise<LaunchResult> {
    const launch = asLaunchId(randomUUID());
    const session = await this.record(id, { type: "launch.started", launch, how, attempt: 1 });
    const env = { HOLDFAST_SESSION: id, HOLDFAST_HOME: this.directory };
    const result = await this.runtime.launch({ session, launch, how, prompt: null, env });
    if (result.launched) await this.record(id, { type: "launch.up", launch, agent: result.agent });
    else await this.record(id, { type: "launch.failed", launch, reason: result.reason, lastLines: result.lastLines });
    return result;
  }

  /** Creates and launches; fails the test if that fails. */
  async up(program: string, agent: Partial<ChatAgent> = {}): Promise<SessionId> {
    const id = await this.create(program, agent);
    const result = await this.launch(id);
    if (!result.launched) throw new Error(`launch failed: ${result.reason}\n${result.lastLines.join("\n")}`);
    return id;
  }

  async send(id: SessionId, text: string, promptId: string = randomUUID()): Promise<string> {
    await this.record(id, { type: "prompt.admitted", promptId: asPromptId(promptId), text, by: "person" });
    const result = await this.runtime.send(this.state(id), { promptId: asPromptId(promptId), text });
    if (result.sent !== "seen") throw new Error(`not sent: ${result.why}`);
    return promptId;
  }

  record(id: SessionId, ...events: FactEvent[]): Promise<SessionState> {
    return this.store.commit(id, () => events);
  }

  state(id: SessionId): SessionState {
    const state = this.store.session(id);
    if (state === null) throw new Error(`no session ${id}`);
    return state;
  }

  events(id: SessionId): StoredEvent[] {
    return this.store.events(id, 0, 100_000);
  }

  text(id: SessionId): string {
    return this.events(id)
      .map((event) => (event.type === "agent.text" ? event.text : ""))
      .join("");
  }

  ends(id: SessionId): string[] {
    return this.events(id).flatMap((event) => (event.type === "turn.ended" ? [event.stopReason] : []));
  }

  /** Waits for the end of the turn and returns its stop reason. */
  async ended(id: SessionId, count = 1, deadlineMs?: number): Promise<string> {
    return until(`turn ${count} of ${id} to end`, () => this.ends(id)[count - 1], deadlineMs);
  }

  async look(id: SessionId) {
    return (await this.runtime.observe([this.state(id)])).get(id)!;
  }

  /** Like a reboot. */
  async killEverything(): Promise<void> {
    await endMarked(markedProcesses(`HOLDFAST_HOME=${this.directory}`));
  }

  openGate(name: string): void {
    writeFileSync(join(this.gates, name), "");
  }

  files(id: SessionId): string {
    const { run } = this.state(id);
    if (run.run === "none") throw new Error("never launched");
    return join(this.workers, id, run.launch);
  }

  /** By parent: a process that a feeder or watcher just forked still has another command line. */
  processes({ id }: Pick<SessionState, "id">): number[] {
    const session = join(this.workers, id);
    const launches = existsSync(session) ? readdirSync(session).map((name) => readPids(join(session, name))) : [];
    const keepers = launches.map(({ keeper }) => keeper);
    const others = launches.flatMap(({ feeder, watcher }) => [feeder, watcher]);
    return this.everything({ id }).filter((pid) => {
      const parent = readStat(pid)?.parent ?? null;
      return parent !== null && ![...keepers, ...others].includes(pid) && !others.includes(parent);
    });
  }

  everything({ id }: Pick<SessionState, "id">): number[] {
    const ofHome = new Set(markedProcesses(`HOLDFAST_HOME=${this.directory}`).map(({ pid }) => pid));
    return markedProcesses(`HOLDFAST_SESSION=${id}`).flatMap(({ pid }) => (ofHome.has(pid) ? [pid] : []));
  }

  #register(program: string, agent: Partial<ChatAgent>): string {
    this.#sessions += 1;
    const id = `agent-${this.#sessions}`;
    const path = program === "demo" ? "src/agents/demo/acp.ts" : `test/acp-agents/${program}.ts`;
    const { env = {}, ...more } = agent;
    const chat: ChatAgent = {
      command: [process.execPath, join(root, path)],
      // As the daemon would set it: the contract's launches have no environment.
      env: { HOLDFAST_SESSION: `t-${this.#sessions}`, ...env },
      notFound: [{ code: -32_002, message: null }],
      ...more,
    };
    this.#agents.set(id, { id, label: id, install: "", version: null, terminal: null, chat, env: {} });
    return id;
  }

  #created(agent: string): Extract<FactEvent, { type: "session.created" }> {
    return {
      type: "session.created",
      id: asSessionId(`t-${this.#sessions}`),
      project: asProjectId("project"),
      kind: "chat",
      role: "worker",
      agent,
      title: "",
      issue: null,
      branch: "main",
      branchCreated: false,
      base: "main",
      workspacePath: this.#work,
      by: "person",
    };
  }

  #ready(): FactEvent {
    return { type: "workspace.ready", path: this.#work, branch: "main", branchCreated: false, base: "main" };
  }

  #environment(): Record<string, string> {
    return {
      PATH: process.env["PATH"] ?? "",
      HOME: this.directory,
      HOLDFAST_HOME: this.directory,
      HOLDFAST_TEST_RUN: process.env["HOLDFAST_TEST_RUN"] ?? "alone",
      HOLDFAST_DEMO_CONVERSATIONS: join(this.directory, "conversations"),
      HOLDFAST_DEMO_GATES: this.gates,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { runtime, store, close } of this.#opened) {
      await runtime.close();
      close();
      store.close();
    }
    await this.killEverything();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
