/** Claude Code, seen with 2.1.197. */
import type { AgentDefinition } from "../ports/agents.ts";
import { readClaudeStatus } from "./claude-status.ts";
import { readClaudePrompts } from "./transcripts.ts";
import { hookCommand, hookScriptFile, hooksVariable } from "./hook-script.ts";

/** Seconds; the script takes milliseconds, and a machine that swaps must not stall a turn. */
const hookTimeout = 5;

/** Events that a matcher can choose from; `*` takes all. */
const hooks = {
  SessionStart: [{ hooks: [command("SessionStart")] }],
  UserPromptSubmit: [{ hooks: [command("UserPromptSubmit")] }],
  PreToolUse: [{ matcher: "*", hooks: [command("PreToolUse")] }],
  PermissionRequest: [{ matcher: "*", hooks: [command("PermissionRequest")] }],
  PostToolUse: [{ matcher: "*", hooks: [command("PostToolUse")] }],
  PostToolUseFailure: [{ matcher: "*", hooks: [command("PostToolUseFailure")] }],
  // Other notifications ("waiting for your input" after a minute) say nothing new.
  Notification: [
    { matcher: "permission_prompt", hooks: [command("PermissionPrompt")] },
    { matcher: "elicitation_dialog", hooks: [command("Elicitation")] },
  ],
  Stop: [{ hooks: [command("Stop")] }],
  StopFailure: [{ hooks: [command("StopFailure")] }],
  SessionEnd: [{ hooks: [command("SessionEnd")] }],
};

function command(event: string): { type: "command"; command: string; timeout: number } {
  return { type: "command", command: hookCommand(event), timeout: hookTimeout };
}

const settings = ["--settings", "{hooks}/claude-settings.json"];
const permission = "Claude Code asks for permission";
const id = { idField: "data.session_id" };

export const claude: AgentDefinition = {
  id: "claude",
  label: "Claude Code",
  install: "Install it with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to sign in.",
  version: ["claude", "--version"],
  model: { terminal: ["--model", "{model}"], chat: { option: "model" } },
  env: {},
  hosts: ["api.anthropic.com", "platform.claude.com", "claude.ai"],
  terminal: {
    start: ["claude", "--session-id", "{id}", ...settings],
    // Typed once it is ready: every user of the machine can read arguments.
    startPrompt: null,
    resume: ["claude", "--resume", "{id}", ...settings],
    resumePrompt: null,
    pin: "chosen",
    files: [hookScriptFile, { name: "claude-settings.json", text: `${JSON.stringify({ hooks }, null, 2)}\n` }],
    env: {
      [hooksVariable]: "{hooks}",
      // Drawn in its empty input line, a suggestion looks like text that a user typed.
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
    },
    hookRules: [
      // It fires before a resumed conversation is drawn, and again when one is compacted in mid-turn.
      { event: "SessionStart", activity: null, ...id },
      { event: "UserPromptSubmit", activity: "working", promptField: "data.prompt", ...id },
      { event: "PreToolUse", activity: "working" },
      { event: "PermissionRequest", activity: "needs_input", reason: permission },
      { event: "PermissionPrompt", activity: "needs_input", reason: permission },
      { event: "Elicitation", activity: "needs_input", reason: "A tool of Claude Code asks for input" },
      { event: "PostToolUse", activity: "working" },
      { event: "PostToolUseFailure", activity: "working" },
      { event: "Stop", activity: "idle", saidField: "data.last_assistant_message" },
      { event: "StopFailure", activity: "idle" },
      { event: "SessionEnd", activity: null },
    ],
    screenRules: [
      {
        where: "screen",
        pattern: /Is this a project you created or one you trust\?|Yes, I trust this folder/,
        activity: "needs_input",
        reason: "Claude Code asks whether to trust this folder",
      },
      {
        where: "screen",
        pattern: /Select login method:/,
        activity: "needs_input",
        reason: "Claude Code is not signed in: attach and sign in",
      },
      {
        where: "screen",
        pattern: /Choose the text style that looks best/,
        activity: "needs_input",
        reason: "Claude Code is not set up yet: attach and choose a text style",
      },
      {
        where: "screen",
        pattern: /Do you want to use this API key\?/,
        activity: "needs_input",
        reason: "Claude Code asks whether to use the API key of the environment",
      },
      {
        where: "screen",
        pattern: /Resume from summary|Resume full session as-is/,
        activity: "needs_input",
        reason: "Claude Code asks whether to resume the conversation in full or from a summary",
      },
      {
        where: "screen",
        pattern: /You've (hit|reached) your .*limit|usage limit reached/,
        activity: "needs_input",
        reason: "Claude Code has reached a usage limit",
      },
      {
        where: "screen",
        pattern: /Do you want to (proceed|make this edit|create)\b/,
        activity: "needs_input",
        reason: permission,
      },
      {
        where: "screen",
        pattern: /Enter to confirm \u00b7 Esc to cancel/,
        activity: "needs_input",
        reason: "Claude Code asks to choose from a list",
      },
      // Busy: a Braille spinner; otherwise an eight-spoked star.
      { where: "title", pattern: /^[\u2801-\u28ff] /, activity: "working" },
      { where: "title", pattern: /^\u2733 /, activity: "idle" },
    ],
    conversationGone: [/No conversation found with session ID/],
    // Where "always allow" is remembered.
    exclude: [".claude/settings.local.json"],
    interrupt: ["Escape"],
    readStatus: readClaudeStatus,
    input: {
      // The sign of its shell mode is part of the text: a prompt typed behind it would be run as a command.
      line: /\u2500{10,}[^\n]*\n(?:\u276f|(?=!))([^]*?)\n\u2500{10,}/g,
      empty: /^[\s\u00a0]*((Try "|Press up to edit queued).*)?$/,
      clear: "C-u",
    },
    readPrompts: readClaudePrompts,
  },
  chat: {
    command: ["claude-agent-acp"],
    env: {},
    notFound: [{ code: -32_002, message: null }],
    install: "Install its chat adapter with `npm install -g @agentclientprotocol/claude-agent-acp`.",
  },
  handsOver: true,
};
