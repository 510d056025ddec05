/**
 * The agents that a project can start: built-in ones, those of the user's config.yaml, and those of the project's
 * holdfast.yaml. The user's may replace or extend built-in ones of the same name; a project's only extend.
 */
import type {
  AgentConfiguration,
  AgentDefinition,
  Agents,
  ChatAgent,
  Machine,
  TerminalAgent,
} from "../ports/agents.ts";
import { terminalDefaults } from "./defaults.ts";
import { builtInDefinitions } from "./registry.ts";

export interface AgentSet {
  get(id: string): AgentDefinition | null;
  list(): AgentDefinition[];
}

export interface ProjectAgents extends Agents {
  /** Replaces the entries of one project by what its files contain now. */
  define(project: string, entries: readonly AgentConfiguration[]): void;
  /** The entries of the user's own file; every `define` brings them too. */
  defineUser(entries: readonly AgentConfiguration[]): void;
}

/** Per project: if two projects define one name, each gets its own command. */
export function openProjectAgents(machine: Machine): ProjectAgents {
  let user: readonly AgentConfiguration[] = [];
  const own = new Map<string, readonly AgentConfiguration[]>();
  const sets = new Map<string | null, AgentSet>();
  const setOf = (project: string | null): AgentSet => {
    // Projects without agents of their own share one set.
    const entries = project === null ? undefined : own.get(project);
    const key = entries === undefined || entries.length === 0 ? null : project;
    const known = sets.get(key);
    if (known !== undefined) return known;
    const made = openAgents([...user, ...(entries ?? [])], machine);
    sets.set(key, made);
    return made;
  };
  const defineUser = (entries: readonly AgentConfiguration[]): void => {
    if (isSame(entries, user)) return;
    user = entries;
    sets.clear();
  };
  return {
    of: ({ project, agent }) => setOf(project).get(agent),
    list: (project) => setOf(project).list(),
    defineUser,
    define(project, entries) {
      defineUser(entries.filter(({ from }) => from === "user"));
      const now = entries.filter(({ from }) => from === "project");
      if (isSame(now, own.get(project) ?? [])) return;
      own.set(project, now);
      sets.delete(project);
    },
  };
}

function isSame(one: readonly AgentConfiguration[], other: readonly AgentConfiguration[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function openAgents(entries: readonly AgentConfiguration[], machine: Machine): AgentSet {
  const byId = new Map(builtInDefinitions(machine).map((agent) => [agent.id, withOwnOptions(agent)]));
  for (const [at, one] of entries.entries()) {
    // A repository's file is not trusted to replace a built-in or user agent; it may only extend one.
    if (one.from === "project" && hasCommand(one) && byId.has(one.id)) continue;
    // Some agents refuse two models.
    const chosenLater = entries.slice(at + 1).some(({ id, model }) => id === one.id && model !== null);
    const agent = configured(byId.get(one.id), chosenLater ? { ...one, model: null } : one);
    if (agent !== null) byId.set(one.id, agent);
  }
  return { get: (id) => byId.get(id) ?? null, list: () => [...byId.values()] };
}

function hasCommand({ terminal, chat }: AgentConfiguration): boolean {
  return (terminal?.command ?? null) !== null || (chat?.command ?? null) !== null;
}

/** Only for built-in agents: in a custom command such as `npx -y mine`, the program may follow an option. */
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

/** @param base the agent of that name so far. Returns null if the file extends an agent that does not exist. */
function configured(base: AgentDefinition | undefined, entry: AgentConfiguration): AgentDefinition | null {
  const own = entry.terminal?.command != null || entry.chat?.command != null;
  if (own) return definition(entry);
  return base === undefined ? null : extended(base, entry);
}

function definition({ id, from, terminal, chat, args, env }: AgentConfiguration): AgentDefinition {
  const chatCommand = chat?.command ?? null;
  return {
    id,
    from,
    label: id,
    install: `Check the command of agents.${id} in your configuration.`,
    version: null,
    terminal:
      terminal === null || terminal.command === null
        ? null
        : terminalAgent(terminal.command, terminal.resume, [...args, ...terminal.args]),
    // The protocol's own code for an unknown session.
    chat:
      chatCommand === null
        ? null
        : {
            command: [...chatCommand, ...args, ...(chat?.args ?? [])],
            env: {},
            notFound: [{ code: -32_002, message: null }],
          },
    env,
  };
}

function terminalAgent(command: string[], resume: string[] | null, args: string[]): TerminalAgent {
  const first = withoutPrompt(command);
  const again = resume === null ? null : withoutPrompt(resume);
  return {
    ...terminalDefaults,
    start: [...first.words, ...args],
    startPrompt: first.prompt,
    resume: again && [...again.words, ...args],
    resumePrompt: again?.prompt ?? null,
    conversationId: command.some((word) => word.includes("{id}")) ? "chosen" : "none",
    interrupt: [],
  };
}

/**
 * Takes `{prompt}` out of a command, with the option before it, because a start without a prompt must not pass it empty.
 * Null if the command does not contain it: then the prompt is typed once the agent runs.
 */
function withoutPrompt(command: string[]): { words: string[]; prompt: string[] | null } {
  const at = command.findIndex((word) => word.includes("{prompt}"));
  if (at < 1) return { words: command, prompt: null };
  const from = command[at - 1]?.startsWith("-") === true && at > 1 ? at - 1 : at;
  return { words: [...command.slice(0, from), ...command.slice(at + 1)], prompt: command.slice(from, at + 1) };
}

/** Everything that Holdfast knows of the agent stays: hooks, resume, status. */
function extended(base: AgentDefinition, entry: AgentConfiguration): AgentDefinition {
  const { terminal, chat } = base;
  return {
    ...base,
    from: entry.from,
    env: { ...base.env, ...entry.env },
    terminal: terminal && extendedTerminal(terminal, base.model?.terminal ?? [], entry),
    chat: chat && extendedChat(chat, base.model?.chat ?? { args: [] }, entry),
  };
}

function extendedTerminal(terminal: TerminalAgent, model: string[], entry: AgentConfiguration): TerminalAgent {
  const more = [...withModel(model, entry.model), ...entry.args, ...(entry.terminal?.args ?? [])];
  const { start, resume, ownOptions = { start: 0, resume: 0 } } = terminal;
  return {
    ...terminal,
    start: inserted(start, more, ownOptions.start),
    resume: resume && inserted(resume, more, ownOptions.resume),
  };
}

/** Inserts words before the `last` ones. */
function inserted(words: string[], more: string[], last: number): string[] {
  return words.toSpliced(words.length - last, 0, ...more);
}

function extendedChat(
  chat: ChatAgent,
  model: NonNullable<AgentDefinition["model"]>["chat"],
  entry: AgentConfiguration,
): ChatAgent {
  const asArguments = "args" in model ? withModel(model.args, entry.model) : [];
  const options = "option" in model && entry.model !== null ? { [model.option]: entry.model } : {};
  return {
    ...chat,
    command: [...chat.command, ...asArguments, ...entry.args, ...(entry.chat?.args ?? [])],
    options: { ...chat.options, ...options },
  };
}

function withModel(words: string[], model: string | null): string[] {
  return model === null ? [] : words.map((word) => word.replaceAll("{model}", () => model));
}
