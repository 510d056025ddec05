/**
 * Every agent that can be started: the built-in ones, those of the user's config.yaml, and for each project those of its
 * holdfast.yaml. The user's replace or extend built-in ones of the same name, a project's only extend.
 */
import { existsSync } from "node:fs";
import type { AgentConfiguration, AgentDefinition, Agents, TerminalAgent } from "../ports/agents.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { configured } from "./configured.ts";
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

export interface AgentSet {
  get(id: string): AgentDefinition | null;
  list(): AgentDefinition[];
}

export interface ProjectAgents extends Agents {
  /** What the files say now for one project; what they said before no longer counts. */
  define(project: string, said: readonly AgentConfiguration[]): void;
  /** The entries of the user's own file; every `define` brings them too. */
  defineUser(said: readonly AgentConfiguration[]): void;
}

/** Scoped: a name that two projects define means each time the project's own command. */
export function openProjectAgents(facts: AgentFacts): ProjectAgents {
  let user: readonly AgentConfiguration[] = [];
  const own = new Map<string, readonly AgentConfiguration[]>();
  const sets = new Map<string | null, AgentSet>();
  const setOf = (project: string | null): AgentSet => {
    // Projects without agents of their own share one set.
    const said = project === null ? undefined : own.get(project);
    const key = said === undefined || said.length === 0 ? null : project;
    const known = sets.get(key);
    if (known !== undefined) return known;
    const made = openAgents([...user, ...(said ?? [])], facts);
    sets.set(key, made);
    return made;
  };
  const defineUser = (said: readonly AgentConfiguration[]): void => {
    if (isSame(said, user)) return;
    user = said;
    sets.clear();
  };
  return {
    of: ({ project, agent }) => setOf(project).get(agent),
    list: (project) => setOf(project).list(),
    defineUser,
    define(project, said) {
      defineUser(said.filter(({ from }) => from === "user"));
      const now = said.filter(({ from }) => from === "project");
      if (isSame(now, own.get(project) ?? [])) return;
      own.set(project, now);
      sets.delete(project);
    },
  };
}

function isSame(one: readonly AgentConfiguration[], other: readonly AgentConfiguration[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function openAgents(said: readonly AgentConfiguration[], facts: AgentFacts): AgentSet {
  const builtIn = [
    claude,
    codex,
    gemini({ trustsOurSettings: facts.geminiTrustsOurSettings }),
    opencode,
    demo,
    shell({ command: facts.shell }),
  ];
  const byId = new Map(builtIn.map((agent) => [agent.id, withOwnOptions(withDemo(agent, facts))]));
  for (const [at, one] of said.entries()) {
    // A repository's file is a stranger's: it may extend a built-in agent, and replaces none that others know by its name.
    if (one.from === "project" && hasCommand(one) && byId.has(one.id)) continue;
    // Some agents refuse two models.
    const chosenLater = said.slice(at + 1).some(({ id, model }) => id === one.id && model !== null);
    const agent = configured(byId.get(one.id), chosenLater ? { ...one, model: null } : one);
    if (agent !== null) byId.set(one.id, agent);
  }
  return { get: (id) => byId.get(id) ?? null, list: () => [...byId.values()] };
}

function hasCommand({ terminal, chat }: AgentConfiguration): boolean {
  return (terminal?.command ?? null) !== null || (chat?.command ?? null) !== null;
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

/** Only for built-in agents: in a command of the user's, such as `npx -y mine`, the program may stand behind an option. */
function withOwnOptions(agent: AgentDefinition): AgentDefinition {
  const { terminal } = agent;
  if (terminal === null) return agent;
  const ownOptions = { start: optionsOf(terminal.start), resume: optionsOf(terminal.resume ?? []) };
  return { ...agent, terminal: { ...terminal, ownOptions } };
}

/** How many words there are from the first option on: before it are the program and its subcommand. */
function optionsOf(words: string[]): number {
  const first = words.findIndex((word) => word.startsWith("-"));
  return first === -1 ? 0 : words.length - first;
}
