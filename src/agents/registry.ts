/** Every agent that can be started: the built-in ones, and the person's own, which win by name. */
import { existsSync } from "node:fs";
import type { AgentDefinition, Agents, TerminalAgent } from "../ports/agents.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { demo } from "./demo.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { shell } from "./shell.ts";

export interface AgentFacts {
  /** argv that `{demo}` stands for: the runtime and the bundled demo agent; `{demo-chat}` is the one that speaks ACP. */
  demo: string[];
  demoChat: string[];
  /** The person's own shell, `$SHELL`. */
  shell: string | undefined;
  /** Whether Gemini will read a file of settings that we name. */
  geminiTrustsOurSettings: boolean;
}

/** Where an administrator's defaults for Gemini are; ours would hide them. */
const geminiSystemDefaults: Partial<Record<NodeJS.Platform, string>> = {
  linux: "/etc/gemini-cli/system-defaults.json",
  darwin: "/Library/Application Support/GeminiCli/system-defaults.json",
};

/** What this machine is like; `demoCommand` is how the bundled demo agent is run. */
export function readAgentFacts(
  demoCommand: string[],
  demoChatCommand: string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): AgentFacts {
  const defaults = env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] ?? geminiSystemDefaults[process.platform];
  const root = process.getuid?.() === 0;
  return {
    demo: demoCommand,
    demoChat: demoChatCommand,
    shell: env["SHELL"],
    geminiTrustsOurSettings: root && defaults !== undefined && !existsSync(defaults),
  };
}

export function openAgents(custom: readonly AgentDefinition[], facts: AgentFacts): Agents {
  const builtIn = [
    claude,
    codex,
    gemini({ trustsOurSettings: facts.geminiTrustsOurSettings }),
    opencode,
    demo,
    shell({ command: facts.shell }),
  ];
  const byId = new Map([...builtIn, ...custom].map((agent) => [agent.id, withDemo(agent, facts)]));
  return { get: (id) => byId.get(id) ?? null, list: () => [...byId.values()] };
}

/** `{demo}` stands for several words, so it is replaced here and not with the placeholders of one launch. */
function withDemo(agent: AgentDefinition, { demo: command, demoChat }: AgentFacts): AgentDefinition {
  const values: Record<string, string[]> = { "{demo}": command, "{demo-chat}": demoChat };
  const fill = (argv: string[]): string[] => argv.flatMap((word) => values[word] ?? [word]);
  const fillTerminal = (terminal: TerminalAgent): TerminalAgent => ({
    ...terminal,
    start: fill(terminal.start),
    resume: terminal.resume && fill(terminal.resume),
  });
  return {
    ...agent,
    version: agent.version && fill(agent.version),
    terminal: agent.terminal && fillTerminal(agent.terminal),
    chat: agent.chat && { ...agent.chat, command: fill(agent.chat.command) },
  };
}
