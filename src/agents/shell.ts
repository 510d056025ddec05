/** A plain shell in a worktree: nothing to pin, nothing to resume, and no activity to guess. */
import type { AgentDefinition } from "../ports/agents.ts";

/** `command` is the person's own shell; every POSIX system has the one that stands in for it. */
export function shell({ command }: { command: string | undefined }): AgentDefinition {
  const start = command === undefined || command === "" ? "/bin/sh" : command;
  return {
    id: "shell",
    label: "Shell",
    install: `Set SHELL to a shell that exists; it is ${start}.`,
    version: null,
    env: {},
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
