/** A plain shell in a worktree: no conversation, nothing to resume, no activity to detect. */
import type { AgentDefinition, Machine } from "../ports/agents.ts";

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
    terminal: {
      start: [start],
      startPrompt: null,
      resume: null,
      resumePrompt: null,
      pin: "none",
      files: [],
      env: {},
      hookRules: [],
      screenRules: [],
      conversationGone: [],
      exclude: [],
      interrupt: ["C-c"],
    },
    chat: null,
  };
}
