/** Makes the definition that launches an agent from its entry in a configuration file. */
import type { AgentConfiguration, AgentDefinition, ChatAgent, TerminalAgent } from "../ports/agents.ts";

/** @param below the agent of that name so far. Returns null if the file extends an agent that does not exist. */
export function configured(below: AgentDefinition | undefined, said: AgentConfiguration): AgentDefinition | null {
  const own = said.terminal?.command != null || said.chat?.command != null;
  if (own) return definition(said);
  return below === undefined ? null : extended(below, said);
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
    // The protocol's own code for a session that is not there.
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
    start: [...first.words, ...args],
    startPrompt: first.prompt,
    resume: again && [...again.words, ...args],
    resumePrompt: again?.prompt ?? null,
    pin: command.some((word) => word.includes("{id}")) ? "chosen" : "none",
    files: [],
    env: {},
    hookRules: [],
    screenRules: [],
    conversationGone: [],
    exclude: [],
    interrupt: [],
  };
}

/**
 * Takes `{prompt}` out of a command, with the option before it, because a start without a prompt must not pass it empty.
 * Null where the command has no place for one: then the prompt is typed once the agent runs.
 */
function withoutPrompt(command: string[]): { words: string[]; prompt: string[] | null } {
  const at = command.findIndex((word) => word.includes("{prompt}"));
  if (at < 1) return { words: command, prompt: null };
  const from = command[at - 1]?.startsWith("-") === true && at > 1 ? at - 1 : at;
  return { words: [...command.slice(0, from), ...command.slice(at + 1)], prompt: command.slice(from, at + 1) };
}

/** Everything that Holdfast knows of the agent stays: hooks, resume, status. */
function extended(below: AgentDefinition, said: AgentConfiguration): AgentDefinition {
  const { terminal, chat } = below;
  return {
    ...below,
    from: said.from,
    env: { ...below.env, ...said.env },
    terminal: terminal && extendedTerminal(terminal, below.model?.terminal ?? [], said),
    chat: chat && extendedChat(chat, below.model?.chat ?? { args: [] }, said),
  };
}

function extendedTerminal(terminal: TerminalAgent, model: string[], said: AgentConfiguration): TerminalAgent {
  const more = [...withModel(model, said.model), ...said.args, ...(said.terminal?.args ?? [])];
  const { start, resume, ownOptions = { start: 0, resume: 0 } } = terminal;
  return {
    ...terminal,
    start: inserted(start, more, ownOptions.start),
    resume: resume && inserted(resume, more, ownOptions.resume),
  };
}

/** With `last` words behind them. */
function inserted(words: string[], more: string[], last: number): string[] {
  return words.toSpliced(words.length - last, 0, ...more);
}

function extendedChat(
  chat: ChatAgent,
  model: NonNullable<AgentDefinition["model"]>["chat"],
  said: AgentConfiguration,
): ChatAgent {
  const asArguments = "args" in model ? withModel(model.args, said.model) : [];
  const options = "option" in model && said.model !== null ? { [model.option]: said.model } : {};
  return {
    ...chat,
    command: [...chat.command, ...asArguments, ...said.args, ...(said.chat?.args ?? [])],
    options: { ...chat.options, ...options },
  };
}

function withModel(words: string[], model: string | null): string[] {
  return model === null ? [] : words.map((word) => word.replaceAll("{model}", () => model));
}
