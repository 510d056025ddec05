/** The real agents that the lane drives, and how to run one against the model server: its own home, no account. */
import { mkdirSync } from "node:fs";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { qwen } from "./qwen.ts";
import { searchPath, type LaneAgent, type PrepareOptions, type Suite } from "./lane-agent.ts";

export { binDirectory, cacheDirectory } from "./lane-agent.ts";

const byName = { claude, codex, gemini, opencode, qwen };

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
  return { HOME: options.home, LANG: "C.UTF-8", PATH: searchPath(), ...laneAgents[name].prepare(options) };
}
