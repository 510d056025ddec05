/**
 * A tmux runtime for one test: own directory, own socket, agents from this folder. `await using` stops the server
 * that this test started and fails the test if one of its processes is left.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bootId, listProcesses } from "../../src/base/pid.ts";
import type { AgentDefinition, Agents, TerminalAgent } from "../../src/ports/agents.ts";
import type { LaunchRequest, LaunchResult, Runtime, TerminalRuntime } from "../../src/ports/runtime.ts";
import { asProjectId, asSessionId } from "../../src/contract/ids.ts";
import type { SessionState } from "../../src/model/session.ts";
import { requestFor, sampleSession, upSession } from "../../src/ports/runtime-contract.fixture.ts";
import type { Behaviour, RuntimeWorld } from "../../src/ports/runtime-contract.fixture.ts";
import { openTmuxRuntime } from "../../src/terminal/runtime.ts";
import type { TmuxRuntimeOptions } from "../../src/terminal/runtime.ts";
import { homePrefix, homesDirectory } from "../harness/home.ts";
import { endMarked, markedProcesses } from "../harness/marked.ts";

const here = import.meta.dirname;

export class TmuxWorld implements RuntimeWorld, AsyncDisposable {
  readonly directory = mkdtempSync(join(homesDirectory, homePrefix(process.env["HOLDFAST_TEST_RUN"] ?? "alone")));
  readonly workspace = join(this.directory, "work");
  readonly socketName: string;
  readonly #agents = new Map<string, AgentDefinition>();
  readonly #opened: Runtime[] = [];
  #sessions = 0;

  constructor(prefix = "hf-test-") {
    this.socketName = `${prefix}${randomBytes(6).toString("hex")}`;
    mkdirSync(this.workspace);
  }

  open(over: Partial<TmuxRuntimeOptions> = {}): TerminalRuntime {
    const agents: Agents = {
      of: ({ agent }) => this.#agents.get(agent) ?? null,
      list: () => [...this.#agents.values()],
    };
    const runtime = openTmuxRuntime({
      socketName: this.socketName,
      configDirectory: join(this.directory, "tmux"),
      launchesDirectory: join(this.directory, "launches"),
      agents,
      bootId: bootId(),
      env: { ...this.#environment(), HOLDFAST_HOME: this.directory },
      // A launch is done when the agent waits for input or has exited, however long that takes on a busy machine.
      settle: { freshMs: 30_000 },
      ...over,
    });
    this.#opened.push(runtime);
    return runtime;
  }

  session(behaviour: Behaviour): SessionState {
    const command = behaviour === "waits" ? ["cat"] : [join(here, `${behaviour}.sh`)];
    return this.sessionOf({ start: command });
  }

  /** A session with its own agent definition. */
  sessionOf(agent: Partial<TerminalAgent>, over: Partial<SessionState> = {}): SessionState {
    this.#sessions += 1;
    const id = `agent-${this.#sessions}`;
    this.#agents.set(id, definition(id, agent));
    return sampleSession({
      id: asSessionId(`t-${this.#sessions}`),
      project: asProjectId("project"),
      agent: id,
      workspacePath: this.workspace,
      ...over,
    });
  }

  /** Launches it and returns the session as recorded afterwards. */
  async up(
    runtime: Runtime,
    planned: SessionState,
    over: Partial<LaunchRequest> = {},
  ): Promise<{ session: SessionState; request: LaunchRequest; result: Extract<LaunchResult, { launched: true }> }> {
    const request = requestFor(planned, over);
    const result = await runtime.launch(request);
    if (!result.launched) throw new Error(`launch failed: ${result.reason}\n${result.lastLines.join("\n")}`);
    return { session: upSession(planned, request.launch, result.agent), request, result };
  }

  processes(session: SessionState): number[] {
    return markedProcesses(`HOLDFAST_SESSION=${session.id}`)
      .filter(({ pid }) => markedProcesses(`HOLDFAST_HOME=${this.directory}`).some((one) => one.pid === pid))
      .map(({ pid }) => pid);
  }

  /** The test's own tmux client, on the test's own server. */
  tmux(...args: string[]): string {
    const ran = spawnSync("tmux", ["-u", "-L", this.socketName, ...args], {
      encoding: "utf8",
      env: this.#environment(),
    });
    return ran.stdout;
  }

  #environment(): Record<string, string> {
    const run = process.env["HOLDFAST_TEST_RUN"] ?? "alone";
    return { PATH: process.env["PATH"] ?? "", HOME: this.directory, LANG: "C.UTF-8", HOLDFAST_TEST_RUN: run };
  }

  /** A server that lost its socket in a failed test cannot be reached by its name. */
  #servers(): { pid: number; what: string }[] {
    return listProcesses()
      .map(({ pid }) => ({ pid, what: commandLine(pid) }))
      .filter(({ what }) => what.includes(`-L ${this.socketName} `));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const runtime of this.#opened) await runtime.close();
    this.tmux("kill-server");
    rmSync(join("/tmp", `tmux-${process.getuid?.() ?? 0}`, this.socketName), { force: true });
    await endMarked([...markedProcesses(`HOLDFAST_HOME=${this.directory}`), ...this.#servers()]);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

function definition(id: string, agent: Partial<TerminalAgent>): AgentDefinition {
  const terminal: TerminalAgent = {
    start: ["cat"],
    startPrompt: null,
    resume: null,
    resumePrompt: null,
    conversationId: "none",
    files: [],
    env: {},
    hookRules: [],
    screenRules: [],
    conversationGone: [],
    exclude: [],
    interrupt: [],
    ...agent,
  };
  return { id, label: id, install: "", version: null, terminal, chat: null, env: {} };
}

export function program(name: string, ...args: string[]): string[] {
  const path = join(here, name);
  return name.endsWith(".ts") ? [process.execPath, path, ...args] : [path, ...args];
}
