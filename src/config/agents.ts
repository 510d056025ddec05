/** A file's entries for agents, in the shape that the registry takes. */
import type { AgentConfiguration } from "../ports/agents.ts";
import type { AgentConfig } from "./schema.ts";

export function configuredAgents(
  from: AgentConfiguration["from"],
  agents: Record<string, AgentConfig> | undefined,
): AgentConfiguration[] {
  return Object.entries(agents ?? {}).map(([id, { terminal, chat, args = [], env = {}, model = null }]) => ({
    id,
    from,
    terminal: terminal === undefined ? null : terminalOf(terminal),
    chat: chat === undefined ? null : { command: chat.command ?? null, args: chat.args ?? [] },
    args,
    env,
    model,
  }));
}

function terminalOf({ command, resume, args }: NonNullable<AgentConfig["terminal"]>): AgentConfiguration["terminal"] {
  return { command: command ?? null, resume: resume ?? null, args: args ?? [] };
}
