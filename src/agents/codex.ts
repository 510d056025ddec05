/**
 * Codex, seen with 0.166.0. Hooks go in by `-c`, which adds to the user's own and writes nothing to CODEX_HOME.
 * Codex asks once whether to trust them. Only the user may answer, so it shows as `needs_input`. The commands are the
 * same in every launch, so one answer is enough.
 */
import type { AgentDefinition } from "../ports/agents.ts";
import { readCodexPrompts } from "./transcripts.ts";
import { dialog, terminalDefaults } from "./defaults.ts";
import { hookCommand, hookScriptFile, hooksVariable } from "./hook-script.ts";
import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";

/** Timeouts in seconds. */
export const codexHooks: Record<string, number> = {
  SessionStart: 5,
  UserPromptSubmit: 5,
  PreToolUse: 5,
  PermissionRequest: 5,
  PostToolUse: 5,
  Stop: 5,
  Interrupt: 1,
};

const hookOptions = Object.entries(codexHooks).flatMap(([event, timeout]) => [
  "-c",
  `hooks.${event}=[{hooks=[{type="command",command=${JSON.stringify(hookCommand(event))},timeout=${timeout}}]}]`,
]);

const permission = "Codex asks for permission";
const id = { idField: "data.session_id" };

export const codex: AgentDefinition = {
  id: "codex",
  label: "Codex",
  install: "Install it with `npm install -g @openai/codex`, then run `codex` once to sign in.",
  npm: "@openai/codex",
  version: ["codex", "--version"],
  // Not every version of its chat adapter reads `-c`.
  model: { terminal: ["-m", "{model}"], chat: { option: "model" } },
  env: {},
  hosts: ["api.openai.com", "chatgpt.com", "auth.openai.com"],
  variables: { reads: ["CODEX_HOME", "OPENAI_*", "AZURE_*"], marks: ["CODEX_SANDBOX*"] },
  ownFolders: [
    {
      name: ".codex",
      variable: "CODEX_HOME",
      share: ["auth.json"],
      copy: ["config.toml", "AGENTS.md", "hooks.json", "rules", "prompts", "skills"],
    },
  ],
  terminal: {
    ...terminalDefaults,
    // Without --no-daemon its turns run in a shared background server that outlives the session.
    start: ["codex", "--no-daemon", ...hookOptions],
    resume: ["codex", "resume", "--no-daemon", ...hookOptions, "{id}"],
    conversationId: "reported",
    files: [hookScriptFile],
    env: { [hooksVariable]: "{hooks}" },
    hookRules: [
      { event: "SessionStart", activity: null, ...id },
      { event: "UserPromptSubmit", activity: "working", promptField: "data.prompt", ...id },
      { event: "PreToolUse", activity: "working" },
      { event: "PermissionRequest", activity: "needs_input", reason: permission },
      { event: "PostToolUse", activity: "working" },
      { event: "Stop", activity: "idle", messageField: "data.last_assistant_message" },
      { event: "Interrupt", activity: "idle" },
    ],
    screenRules: [
      dialog(/Hooks need review/, "Codex asks whether to trust Holdfast's hooks: attach and answer once"),
      dialog(/Sign in with ChatGPT/, "Codex is not signed in: attach and sign in"),
      dialog(/Trust this folder\?/, "Codex asks whether to trust this folder"),
      dialog(/^\u203a 1\. Try new model/m, "Codex asks whether to change to a newer model"),
      dialog(/Approaching rate limits|hit your usage limit/, "Codex has reached a usage limit, or is close to one"),
      dialog(/Update available![^]*^[\u203a>] \d\. /m, "Codex asks whether to update itself"),
      { where: "title", pattern: /^\[ . \] Action Required/, activity: "needs_input", reason: permission },
      { where: "title", pattern: /^[\u2801-\u28ff] /, activity: "working" },
      // Until it sets its own title, the pane's title is the host name.
      { where: "title", pattern: / \| /, activity: "idle" },
      // Last: a prompt that starts with a number looks the same.
      dialog(/^[\u203a>] \d\. /m, "Codex asks to choose from a list"),
    ],
    conversationGone: [/No saved session found with ID/],
    input: {
      // Up to the last blank line, which its status follows: the prompt may have blank lines too.
      line: /^(?:\u203a|(?=!))((?:(?!\n[\u203a!])[^])*?)\n[^\S\n]*\n(?:[^\n]*\S[^\n]*(?:\n|(?![^])))+\s*(?![^])/gm,
      empty: /^\s*(Ask Codex .*)?$/,
      choices: /^ (\d+\.|\[.\]) /,
      clear: "C-u",
    },
    readPrompts: readCodexPrompts,
  },
  chat: {
    command: ["codex-acp"],
    env: {},
    notFound: [{ code: -32_002, message: null }],
    // The command refuses a policy that the adapter accepts; deleting does not depend on it.
    deleteCommand: ["codex", "delete", "--force", "-c", 'approval_policy="on-request"', "{id}"],
    npm: "@zed-industries/codex-acp",
    install: "Install its chat adapter with `npm install -g @zed-industries/codex-acp`.",
    program: codexAcpProgram,
  },
  handsOver: true,
};

/** The script stays as the program's parent and does not pass signals on. Null for other scripts. */
export function codexAcpProgram(script: string): string | null {
  try {
    const platform = `${process.platform}-${process.arch}`;
    const program = createRequire(script).resolve(`@zed-industries/codex-acp-${platform}/bin/codex-acp`);
    accessSync(program, constants.X_OK);
    return program;
  } catch {
    return null;
  }
}
