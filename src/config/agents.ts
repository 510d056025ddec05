/** Agents of the person's own, from the file's words to the definition that launches them. */
import type { AgentDefinition } from "../ports/agents.ts";
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
    terminal:
      terminal === undefined
        ? null
        : {
            start: terminal.command,
            // A command that has no place for the prompt gets it typed once it runs.
            startPrompt: terminal.command.some((word) => word.includes("{prompt}")) ? [] : null,
            resume: terminal.resume ?? null,
            resumePrompt: terminal.resume?.some((word) => word.includes("{prompt}")) === true ? [] : null,
            pin: terminal.command.some((word) => word.includes("{id}")) ? "chosen" : "none",
            files: [],
            env: {},
            hookRules: [],
            screenRules: [],
            conversationGone: [],
            exclude: [],
            interrupt: [],
          },
    chat: chat === undefined ? null : { command: chat.command, env: {}, notFound: [] },
    env: agent.env ?? {},
  };
}
