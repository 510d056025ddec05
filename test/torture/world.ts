/**
 * A home, a repository and agents with ledgers, for one scenario. The daemon is started directly from the home's copy of
 * the build, so that it can be killed inside its start; clients reach it over its socket or through the built CLI.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallableOperation } from "../../src/client/client.ts";
import type { Output } from "../../src/contract/operations.ts";
import { isRunning, markedProcesses, type Marked } from "../harness/marked.ts";
import { ProjectHome, type CallFor } from "../harness/project.ts";
import { until } from "../harness/until.ts";
import { AgentLedger, RequestLedger } from "./ledger.ts";

const here = import.meta.dirname;
const callMs = 60_000;

export interface AgentConfig {
  terminal?: { command: string[]; resume?: string[] };
  chat?: { command: string[] };
  env?: Record<string, string>;
}

export interface Daemon {
  child: ChildProcess;
  /** Whether it answers or has exited. */
  ready: Promise<unknown>;
  exited: Promise<unknown>;
}

export class World extends ProjectHome {
  readonly ledger = new AgentLedger(join(this.directory, "ledger.jsonl"));
  readonly requests = new RequestLedger();

  /** A running daemon with a project whose agent `worker` has both kinds and a ledger. */
  static async open(env: Record<string, string> = {}, agents: Record<string, AgentConfig> = {}): Promise<World> {
    const world = new World(env);
    try {
      await world.begin(agents);
    } catch (error) {
      await world[Symbol.asyncDispose]().catch(() => undefined);
      throw error;
    }
    return world;
  }

  /** Separate from `open` for a home that must be prepared first. */
  async begin(agents: Record<string, AgentConfig> = {}): Promise<void> {
    await this.ok(["start", "--port", "0"]);
    this.repo = await this.repository("my-app");
    this.configure(agents);
    await this.ok(["project", "add", this.repo]);
  }

  configure(agents: Record<string, AgentConfig> = {}): void {
    const worker: AgentConfig = {
      terminal: { command: ["sh", join(here, "agents/terminal.sh")] },
      chat: { command: [process.execPath, join(here, "agents/ledger-agent.ts")] },
    };
    const all = Object.entries({ worker, ...agents }).map(([id, agent]) => [
      id,
      { ...agent, env: { TORTURE_LEDGER: this.ledger.path, ...agent.env } },
    ]);
    const config = {
      projects: { "my-app": { path: ".", prefix: "ma", agent: "worker" } },
      agents: Object.fromEntries(all) as object,
    };
    // JSON is YAML.
    writeFileSync(join(this.repo, "holdfast.yaml"), JSON.stringify(config));
  }

  override call<R extends CallableOperation>(route: R, id = "", options: CallFor<R> = {}): Promise<Output<R>> {
    const signal = AbortSignal.timeout(callMs);
    return super.call(route, id, { signal, ...options });
  }

  async start(kind: "terminal" | "chat", agent = "worker", prompt?: string): Promise<string> {
    const body = { project: "my-app", kind, agent, ...(prompt === undefined ? {} : { prompt }) };
    return (await this.call("spawn", "", { body })).id;
  }

  /** Scenarios start and kill the daemon themselves. */
  protected override orStarted<T>(ask: () => Promise<T>): Promise<T> {
    return ask();
  }

  /** As the CLI starts one, but killable from its first instruction on. */
  startDaemon(more: Record<string, string> = {}): Daemon {
    const child = spawn(process.execPath, [this.bundle()], {
      cwd: this.home,
      env: { ...this.env, ...more },
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    const exited = once(child, "exit");
    return { child, exited, ready: Promise.race([exited, once(child.stdio[3]!, "data")]) };
  }

  bundle(): string {
    const builds = readdirSync(this.paths.builds).filter((name) => !name.startsWith("."));
    const [build] = builds.filter((name) => existsSync(join(this.paths.builds, name, "daemon.cjs")));
    if (build === undefined) throw new Error(`no daemon in ${this.paths.builds}`);
    return join(this.paths.builds, build, "daemon.cjs");
  }

  /** SIGKILL for every daemon of this home, also one that a client's CLI started; returns how many there were. */
  async killDaemons(): Promise<number> {
    const daemons = this.daemons();
    for (const { pid } of daemons) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It exited in the meantime.
      }
    }
    await until("killed daemons to exit", () => !daemons.some(({ pid }) => isRunning(pid)));
    return daemons.length;
  }

  daemons(): Marked[] {
    const all = markedProcesses(`HOLDFAST_HOME=${this.home}`).filter(({ what }) => /\bdaemon\.cjs/.test(what));
    const pids = new Set(all.map(({ pid }) => pid));
    // A child between fork and exec still has the daemon's command line: by the time of the kill it may be a git in a write.
    return all.filter(({ pid }) => !pids.has(parentOf(pid)));
  }

  /** A daemon that keeps running, with an observation of every session. */
  async calm(): Promise<void> {
    await this.ok(["start"], { timeoutMs: 150_000 });
  }

  /** Live processes by session, agents and their children; only this home's. */
  census(): Map<string, { pid: number; launch: string; what: string }[]> {
    const found = new Map<string, { pid: number; launch: string; what: string }[]>();
    for (const { pid, what } of markedProcesses(`HOLDFAST_HOME=${this.home}`)) {
      const variables = environmentOf(pid);
      const session = variables.get("HOLDFAST_SESSION");
      if (session === undefined) continue;
      const launch = variables.get("HOLDFAST_LAUNCH") ?? "";
      found.set(session, [...(found.get(session) ?? []), { pid, launch, what }]);
    }
    return found;
  }

  /** Names in a directory of the home; empty if it does not exist. */
  names(directory: string): string[] {
    return existsSync(directory) ? readdirSync(directory) : [];
  }
}

/** 0 once it is gone. */
function parentOf(pid: number): number {
  try {
    return Number(/\) \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function environmentOf(pid: number): Map<string, string> {
  try {
    const text = readFileSync(`/proc/${pid}/environ`, "latin1");
    return new Map(
      text.split("\0").map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, Math.max(at, 0)), line.slice(at + 1)];
      }),
    );
  } catch {
    return new Map();
  }
}
