/** Claude Code, seen with 2.1.197. */
import type { AgentDefinition, AgentStatus } from "../ports/agents.ts";
import { agentFolder, readClaudePrompts } from "./transcripts.ts";
import { dialog, terminalDefaults } from "./defaults.ts";
import { hookCommand, hookScriptFile, hooksVariable } from "./hook-script.ts";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, parseObject } from "../base/attempt.ts";
import { readStat } from "../base/pid.ts";
import { findInner } from "../base/pid-namespace.ts";
import type { Activity } from "../contract/ids.ts";

const activities: Record<string, Activity> = { idle: "idle", busy: "working", waiting: "needs_input" };

export function readClaudeStatus(
  process: { pid: number; startTime: string },
  ownHome: string | null = null,
): AgentStatus | null {
  const sessions = join(agentFolder({ process, ownHome }, ".claude", "CLAUDE_CONFIG_DIR"), "sessions");
  if (ownHome !== null) return readWithin(process, sessions);
  // If it is missing or unreadable, hooks and screen show the activity.
  const text = attempt(() => readFileSync(join(sessions, `${process.pid}.json`), "utf8"), "");
  return parseClaudeStatus(text, process);
}

/** A contained agent names its file, and itself, by its pid in the namespace. */
function readWithin(outer: { pid: number }, sessions: string): AgentStatus | null {
  try {
    for (const name of readdirSync(sessions)) {
      const inner = Number(/^(\d+)\.json$/.exec(name)?.[1]);
      const pid = Number.isInteger(inner) ? findInner(outer.pid, inner) : null;
      const startTime = pid === null ? undefined : readStat(pid)?.startTime;
      const path = join(sessions, name);
      // The agent may put anything there: a pipe would block us forever.
      if (startTime === undefined || !lstatSync(path).isFile()) continue;
      const status = parseClaudeStatus(readFileSync(path, "utf8"), { pid: inner, startTime });
      if (status !== null) return status;
    }
  } catch {
    // Not written yet.
  }
  return null;
}

/** Null if the file belongs to an earlier process with that pid, or its status is unknown. */
export function parseClaudeStatus(text: string, process: { pid: number; startTime: string }): AgentStatus | null {
  const file = parseObject(text);
  if (file?.["pid"] !== process.pid || String(file["procStart"]) !== process.startTime) return null;
  const activity = activities[String(file["status"])];
  const since = file["statusUpdatedAt"];
  if (activity === undefined || typeof since !== "number") return null;
  const waitingFor = file["waitingFor"];
  const agentSessionId = file["sessionId"];
  return {
    activity,
    since,
    reason: typeof waitingFor === "string" ? `Claude Code waits for: ${waitingFor}` : null,
    agentSessionId: typeof agentSessionId === "string" ? agentSessionId : null,
  };
}

/** Seconds; the script takes milliseconds, but must not delay a turn on a machine that swaps. */
const hookTimeout = 5;

const hooks = {
  SessionStart: [{ hooks: [command("SessionStart")] }],
  UserPromptSubmit: [{ hooks: [command("UserPromptSubmit")] }],
  PreToolUse: [{ matcher: "*", hooks: [command("PreToolUse")] }],
  PermissionRequest: [{ matcher: "*", hooks: [command("PermissionRequest")] }],
  PostToolUse: [{ matcher: "*", hooks: [command("PostToolUse")] }],
  PostToolUseFailure: [{ matcher: "*", hooks: [command("PostToolUseFailure")] }],
  // Other notifications ("waiting for your input" after a minute) are not needed.
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
  npm: "@anthropic-ai/claude-code",
  version: ["claude", "--version"],
  model: { terminal: ["--model", "{model}"], chat: { option: "model" } },
  env: {},
  hosts: ["api.anthropic.com", "platform.claude.com", "claude.ai"],
  variables: {
    reads: [
      "ANTHROPIC_*",
      "CLAUDE_CONFIG_DIR",
      // Other names that start with CLAUDE_CODE_ mark its own sessions.
      "CLAUDE_CODE_USE_BEDROCK",
      "CLAUDE_CODE_USE_VERTEX",
      "CLAUDE_CODE_USE_FOUNDRY",
      "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
      "CLAUDE_CODE_SKIP_VERTEX_AUTH",
      "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
      "CLAUDE_CODE_OAUTH_TOKEN",
      "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
      "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
      "CLAUDE_CODE_SUBAGENT_MODEL",
      "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
      "CLOUD_ML_REGION",
      "VERTEX_REGION_*",
      "MAX_THINKING_TOKENS",
      "DISABLE_AUTOUPDATER",
      "DISABLE_TELEMETRY",
      "DISABLE_ERROR_REPORTING",
    ],
    marks: ["CLAUDE_CODE_*"],
  },
  ownFolders: [
    {
      name: ".claude",
      variable: "CLAUDE_CONFIG_DIR",
      share: [".credentials.json"],
      copy: [
        "settings.json",
        ".claude.json",
        "~/.claude.json",
        "CLAUDE.md",
        "hooks",
        "commands",
        "agents",
        "skills",
        "plugins",
      ],
    },
  ],
  terminal: {
    ...terminalDefaults,
    start: ["claude", "--session-id", "{id}", ...settings],
    resume: ["claude", "--resume", "{id}", ...settings],
    conversationId: "chosen",
    files: [hookScriptFile, { name: "claude-settings.json", text: `${JSON.stringify({ hooks }, null, 2)}\n` }],
    env: {
      [hooksVariable]: "{hooks}",
      // A suggestion in the empty input line looks like text that the user typed.
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
    },
    hookRules: [
      // Fires before a resumed conversation is drawn, and again when one is compacted during a turn.
      { event: "SessionStart", activity: null, ...id },
      { event: "UserPromptSubmit", activity: "working", promptField: "data.prompt", ...id },
      { event: "PreToolUse", activity: "working" },
      { event: "PermissionRequest", activity: "needs_input", reason: permission },
      { event: "PermissionPrompt", activity: "needs_input", reason: permission },
      { event: "Elicitation", activity: "needs_input", reason: "A tool of Claude Code asks for input" },
      { event: "PostToolUse", activity: "working" },
      { event: "PostToolUseFailure", activity: "working" },
      { event: "Stop", activity: "idle", messageField: "data.last_assistant_message" },
      { event: "StopFailure", activity: "idle" },
      { event: "SessionEnd", activity: null },
    ],
    screenRules: [
      dialog(
        /Is this a project you created or one you trust\?|Yes, I trust this folder/,
        "Claude Code asks whether to trust this folder",
      ),
      dialog(/Select login method:/, "Claude Code is not signed in: attach and sign in"),
      dialog(/Choose the text style that looks best/, "Claude Code is not set up yet: attach and choose a text style"),
      dialog(/Do you want to use this API key\?/, "Claude Code asks whether to use the API key of the environment"),
      dialog(
        /Resume from summary|Resume full session as-is/,
        "Claude Code asks whether to resume the conversation in full or from a summary",
      ),
      dialog(/You've (hit|reached) your .*limit|usage limit reached/, "Claude Code has reached a usage limit"),
      dialog(/Do you want to (proceed|make this edit|create)\b/, permission),
      dialog(/Enter to confirm \u00b7 Esc to cancel/, "Claude Code asks to choose from a list"),
      // Busy: a Braille spinner; otherwise an eight-spoked star.
      { where: "title", pattern: /^[\u2801-\u28ff] /, activity: "working" },
      { where: "title", pattern: /^\u2733 /, activity: "idle" },
    ],
    conversationGone: [/No conversation found with session ID/],
    // Where "always allow" is remembered.
    exclude: [".claude/settings.local.json"],
    readStatus: readClaudeStatus,
    input: {
      // `!`, its shell mode, is part of the text: a prompt typed after it would be run as a command.
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
    npm: "@agentclientprotocol/claude-agent-acp",
    install: "Install its chat adapter with `npm install -g @agentclientprotocol/claude-agent-acp`.",
  },
  handsOver: true,
};
