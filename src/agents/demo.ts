/** The bundled demo agent: needs no account, does what a prompt's lines say, and keeps its conversation by id. */
import type { AgentDefinition, Machine } from "../ports/agents.ts";
import { terminalDefaults } from "./defaults.ts";
import { hooksVariable } from "./hook-script.ts";

const id = { idField: "data.session_id" };
const permission = "The demo agent asks for permission";

export function demo({ demo: command, demoChat }: Machine): AgentDefinition {
  return {
    id: "demo",
    label: "Demo agent",
    install: "It is part of Holdfast: install Holdfast again.",
    version: [...command, "--version"],
    env: {},
    ownFolders: [{ name: ".local/state/holdfast-demo", around: "XDG_STATE_HOME", share: [], copy: [] }],
    terminal: {
      ...terminalDefaults,
      start: [...command, "--session-id", "{id}"],
      startPrompt: ["--prompt", "{prompt}"],
      resume: [...command, "--resume", "{id}"],
      resumePrompt: ["--prompt", "{prompt}"],
      conversationId: "chosen",
      env: { [hooksVariable]: "{hooks}" },
      hookRules: [
        { event: "SessionStart", activity: "idle", ...id },
        { event: "UserPromptSubmit", activity: "working", promptField: "data.prompt", ...id },
        { event: "PermissionRequest", activity: "needs_input", reason: permission },
        { event: "PermissionAnswered", activity: "working" },
        { event: "Stop", activity: "idle", messageField: "data.said" },
      ],
      screenRules: [
        { where: "title", pattern: /^demo: asking$/, activity: "needs_input", reason: permission },
        { where: "title", pattern: /^demo: working$/, activity: "working" },
        { where: "title", pattern: /^demo: ready$/, activity: "idle" },
      ],
      conversationGone: [/demo: no conversation /],
      interrupt: ["C-c"],
      confirmMs: 5000,
    },
    chat: { command: demoChat, env: {}, notFound: [{ code: -32_002, message: null }] },
    handsOver: true,
  };
}
