/** Agents of the person's own, from the file's words to the definition that launches them. */
import type { AgentDefinition, TerminalAgent } from "../ports/agents.ts";
import type { AgentConfig } from "./schema.ts";

/** Later maps win by name. */
export function customAgents(...maps: (Record<string, AgentConfig> | undefined)[]): AgentDefinition[] {
  const merged: Record<string, AgentConfig> = Object.assign({}, ...maps);
  return Object.entries(merged).map(([id, agent]) => definition(id, agent));
}

function definition(id: string, agent: AgentConfig): AgentDefinition {
  const { terminal, chat } = agent;
  return {
    id,
    label: id,
    install: `check the command of agents.${id} in your configuration`,
    version: null,
    terminal: terminal === undefined ? null : terminalAgent(terminal),
    // The protocol's own code for a session that is not there.
    chat: chat === undefined ? null : { command: chat.command, env: {}, notFound: [{ code: -32_002, message: null }] },
    env: agent.env ?? {},
  };
}

function terminalAgent({ command, resume }: NonNullable<AgentConfig["terminal"]>): TerminalAgent {
  const first = withoutPrompt(command);
  const again = resume === undefined ? null : withoutPrompt(resume);
  return {
    start: first.words,
    startPrompt: first.prompt,
    resume: again?.words ?? null,
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
