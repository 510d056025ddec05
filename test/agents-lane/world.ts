/** One real agent in our tmux runtime, with its own model server. `await using` stops all of it. */
import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openAgents } from "../../src/agents/project-agents.ts";
import { thisMachine } from "../../src/agents/registry.ts";
import { bootId } from "../../src/base/pid.ts";
import { openContainment } from "../../src/contain/contain.ts";
import type { LaunchResult, Runtime, RuntimeSeen, SendResult } from "../../src/ports/runtime.ts";
import { type Activity, asProjectId, asPromptId, asSessionId, type LaunchHow } from "../../src/contract/ids.ts";
import type { SessionState } from "../../src/model/session.ts";
import { known, look, requestFor, sampleSession, upSession } from "../../src/ports/runtime-contract.fixture.ts";
import { openTmuxRuntime } from "../../src/terminal/runtime.ts";
import { endMarked, markedProcesses } from "../harness/marked.ts";
import { until } from "../harness/until.ts";
import { startModelServer } from "../model-server/server.ts";
import type { ModelServer } from "../model-server/server.ts";
import { cacheDirectory, laneAgents, prepareRealAgent, type RealAgent } from "./agents/agents.ts";

/** A cold start of the slowest takes 15 s on two busy cores, and nearly a minute if ten others compete. */
export const patienceMs = 120_000;

const agents = openAgents([], thisMachine([process.execPath, "demo-agent.cjs"]));

/** Whether the agent's own hooks work here. Without root Gemini has none. */
export function hasHooks(name: RealAgent): boolean {
  const { env } = agents.get(name)!.terminal!;
  return (
    env["HOLDFAST_HOOKS"] !== undefined &&
    (laneAgents[name].hooksNeedOwnFolder !== true || isOursAlone(cacheDirectory()))
  );
}

function isOursAlone(folder: string): boolean {
  const shared = (statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o022;
  return shared === 0 && (folder === dirname(folder) || isOursAlone(dirname(folder)));
}

interface WorldOptions {
  trustHooks?: boolean;
  contained?: boolean;
}

export class LaneWorld implements AsyncDisposable {
  readonly agent: RealAgent;
  readonly directory: string;
  readonly workspace: string;
  readonly model: ModelServer;
  readonly #env: Record<string, string>;
  readonly runtime: Runtime;
  readonly #socketName = `hf-test-${randomBytes(6).toString("hex")}`;
  session: SessionState;

  private constructor(
    agent: RealAgent,
    directory: string,
    model: ModelServer,
    { trustHooks = true, contained = false }: WorldOptions,
  ) {
    this.agent = agent;
    this.directory = directory;
    this.workspace = join(directory, "work");
    this.model = model;
    mkdirSync(this.workspace);
    // Otherwise agents take the surrounding checkout for their project.
    spawnSync("git", ["init", "--quiet", this.workspace]);
    const home = join(directory, "home");
    const folders = [this.workspace];
    this.#env = prepareRealAgent(agent, { home, modelUrl: model.url, folders, trustHooks });
    this.runtime = openTmuxRuntime({
      socketName: this.#socketName,
      configDirectory: join(directory, "tmux"),
      launchesDirectory: join(directory, "launches"),
      agents: { of: (session) => agents.get(session.agent), list: () => agents.list() },
      bootId: bootId(),
      contain: openContainment({ directory: join(directory, "contained"), hidden: [join(directory, "tmux")] }),
      // OpenCode needs longer than a daemon waits to report an unknown conversation.
      settle: { resumeMs: patienceMs },
      sendTimes: {
        arriveMs: patienceMs,
        reactMs: patienceMs,
        // On a busy machine the screen changes long before a hook runs.
        hookMs: patienceMs,
      },
      env: { HOLDFAST_HOME: directory, HOLDFAST_TEST_RUN: process.env["HOLDFAST_TEST_RUN"] ?? "alone" },
    });
    this.session = sampleSession({
      id: asSessionId(`${agent}-1`),
      project: asProjectId("lane"),
      agent,
      workspacePath: this.workspace,
      ...(contained ? { contain: { mode: "worktree", network: "on", read: [], write: [] } } : {}),
    });
  }

  static async open(agent: RealAgent, options: WorldOptions = {}): Promise<LaneWorld> {
    // Below the cache, not in /tmp: Gemini reads no settings from world-writable folders.
    const runs = join(cacheDirectory(), "runs");
    mkdirSync(runs, { recursive: true });
    const directory = mkdtempSync(join(runs, `${agent}-`));
    return new LaneWorld(agent, directory, await startModelServer(), options);
  }

  /** Launches; a prompt that the agent does not accept as an argument is typed once it is ready. */
  async start(how: LaunchHow, prompt: string | null): Promise<Extract<LaunchResult, { launched: true }>> {
    const result = await this.launch(how, prompt);
    if (!result.launched) throw new Error(`launch failed: ${result.reason}\n${result.lastLines.join("\n")}`);
    if (prompt !== null && !result.promptTaken) {
      // Codex reports nothing before its first prompt.
      const isReady = async (): Promise<boolean> => {
        const { starting, activity } = await this.seen();
        return starting !== true && (activity === null || activity.activity === "idle");
      };
      await until(`${this.agent} to be ready`, isReady, patienceMs);
      await this.send(prompt);
    }
    return result;
  }

  async launch(how: LaunchHow, prompt: string | null): Promise<LaunchResult> {
    const given = prompt === null ? null : { promptId: asPromptId(randomUUID()), text: prompt };
    const request = requestFor(this.session, { how, prompt: given, env: this.#env });
    const result = await this.runtime.launch(request);
    if (result.launched) this.session = upSession(this.session, request.launch, result.agent);
    return result;
  }

  async seen(): Promise<RuntimeSeen> {
    return known(await look(this.runtime, this.session));
  }

  /** The observation once the agent has this activity, from this source if one is given. */
  async until(activity: Activity, source?: string): Promise<RuntimeSeen> {
    try {
      return await until(
        `${this.agent} to be ${activity} by ${source ?? "any source"}`,
        async () => {
          const seen = await this.seen();
          const said = seen.activity;
          return said?.activity === activity && (source ?? said.source) === said.source ? seen : null;
        },
        patienceMs,
      );
    } catch (error) {
      throw new Error(`${String(error)}\n${await this.screen()}`, { cause: error });
    }
  }

  /** Sends, and retries while the agent is not ready. */
  send(text: string): Promise<SendResult> {
    return until(
      `${this.agent} to take a prompt`,
      async () => {
        const result = await this.runtime.send(this.session, { promptId: asPromptId(randomUUID()), text });
        return result.sent === "not-now" ? null : result;
      },
      patienceMs,
    );
  }

  async untilScreen(pattern: RegExp): Promise<string> {
    try {
      return await until(`${pattern} on the screen`, async () => pattern.exec(await this.screen())?.[0], patienceMs);
    } catch (error) {
      throw new Error(`${String(error)}\n${await this.screen()}`, { cause: error });
    }
  }

  screen(): Promise<string> {
    return this.runtime.capture(this.session, 50);
  }

  /** One key at a time: two in one write are read as a chord. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      const before = await this.screen();
      this.#key(key);
      await until(`${this.agent} to react to ${key}`, async () => (await this.screen()) !== before, patienceMs);
    }
  }

  /** Presses it until the agent is idle: an agent that is drawing misses keys. */
  async interrupt(key: string): Promise<void> {
    await until(
      "the interrupt to take effect",
      async () => {
        if ((await this.seen()).activity?.activity === "idle") return true;
        this.#key(key);
        return false;
      },
      patienceMs,
    );
  }

  #key(key: string): void {
    this.#tmux("send-keys", "-t", `=worker-lane-${this.session.id}:`, key);
  }

  #tmux(...args: string[]): void {
    const ran = spawnSync("tmux", ["-u", "-L", this.#socketName, ...args], { encoding: "utf8" });
    if (ran.status !== 0) throw new Error(`tmux ${args.join(" ")}: ${ran.stderr}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.stop(this.session, { force: true, deadlineMs: 10_000 });
    await this.runtime.close();
    spawnSync("tmux", ["-L", this.#socketName, "kill-server"]);
    rmSync(join("/tmp", `tmux-${process.getuid?.() ?? 0}`, this.#socketName), { force: true });
    await endMarked(markedProcesses(`HOLDFAST_HOME=${this.directory}`));
    await this.model.close();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
