/** A plain shell in a worktree: no conversation, nothing to resume, no activity to detect. */
import type { AgentDefinition, Machine } from "../ports/agents.ts";
import { terminalDefaults } from "./defaults.ts";

/** The user's own shell; every POSIX system has the default. */
export function shell({ env }: Pick<Machine, "env">): AgentDefinition {
  const command = env["SHELL"] ?? "";
  const start = command === "" ? "/bin/sh" : command;
  return {
    id: "shell",
    label: "Shell",
    install: `Set SHELL to a shell that exists; it is ${start}.`,
    version: null,
    env: {},
    runsPrompts: true,
    terminal: { ...terminalDefaults, start: [start], resume: null, conversationId: "none", interrupt: ["C-c"] },
    chat: null,
  };
}
