/** The real agents that the lane drives, and how to run one against the model server: its own home, no account. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import type { LaneAgent, PrepareOptions, Suite } from "./lane-agent.ts";

const byName = { claude, codex, gemini, opencode };

export type RealAgent = keyof typeof byName;
export const laneAgents: Readonly<Record<RealAgent, LaneAgent>> = byName;

const names = Object.keys(byName).filter((name): name is RealAgent => name in byName);

/** The agents of a suite; `HOLDFAST_TEST_AGENTS` (claude,codex,…) selects among them. */
export function realAgents(suite: Suite): RealAgent[] {
  const asked = process.env["HOLDFAST_TEST_AGENTS"]?.split(",");
  return names.filter((name) => (asked?.includes(name) ?? true) && (laneAgents[name].suites?.includes(suite) ?? true));
}

export const agentPackages = names.flatMap((name) => laneAgents[name].packages);

/** The environment of the agent's process, with the lane's agents on PATH. */
export function prepareRealAgent(name: RealAgent, options: PrepareOptions): Record<string, string> {
  mkdirSync(options.home, { recursive: true });
  const PATH = `${binDirectory()}:${process.env["PATH"] ?? ""}`;
  return { HOME: options.home, LANG: "C.UTF-8", PATH, ...laneAgents[name].prepare(options) };
}

/** Outside the package's own dependencies; 1.7 GB. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const own = env["HOLDFAST_AGENTS_CACHE"];
  return own === undefined || own === "" ? join(import.meta.dirname, "../../../.cache/agents") : own;
}

export function binDirectory(cache = cacheDirectory()): string {
  return join(cache, "node_modules/.bin");
}
