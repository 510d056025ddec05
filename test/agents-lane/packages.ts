/** The real agents that the lane drives, with the versions that our data files were seen to work with. */
import { join } from "node:path";

export interface AgentPackage {
  name: string;
  version: string;
  /** Its command, which must answer `--version` with the version; null for adapters that have no such option. */
  command: string | null;
}

export const agentPackages: AgentPackage[] = [
  { name: "@anthropic-ai/claude-code", version: "2.1.197", command: "claude" },
  { name: "@openai/codex", version: "0.166.0", command: "codex" },
  { name: "@google/gemini-cli", version: "0.61.0", command: "gemini" },
  { name: "opencode-ai", version: "1.18.33", command: "opencode" },
  { name: "@agentclientprotocol/claude-agent-acp", version: "0.49.0", command: null },
  { name: "@zed-industries/codex-acp", version: "0.16.0", command: null },
];

/** Outside the package's own dependencies; 1.7 GB. */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const own = env["HOLDFAST_AGENTS_CACHE"];
  return own === undefined || own === "" ? join(import.meta.dirname, "../../.cache/agents") : own;
}

export function binDirectory(cache = cacheDirectory()): string {
  return join(cache, "node_modules/.bin");
}
