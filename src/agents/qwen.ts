/** Qwen Code, seen with 0.15.10: a fork of Gemini CLI with hooks like Claude Code's. */
import { existsSync } from "node:fs";
import type { AgentDefinition, Machine } from "../ports/agents.ts";
import { dialog, terminalDefaults } from "./defaults.ts";
import { hookCommand, hookScriptFile, hooksVariable } from "./hook-script.ts";

const events = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "Stop",
  "StopFailure",
];

/** Defaults, not overrides: settings of the user and the administrator still win. */
const systemDefaults = {
  hooks: Object.fromEntries(
    events.map((event) => [
      event,
      [{ hooks: [{ type: "command", name: `holdfast-${event}`, command: hookCommand(event), timeout: 5000 }] }],
    ]),
  ),
};

/** The administrator's defaults; ours would hide them. */
const systemDefaultsPath: Partial<Record<NodeJS.Platform, string>> = {
  linux: "/etc/qwen-code/system-defaults.json",
  darwin: "/Library/Application Support/QwenCode/system-defaults.json",
};

const permission = "Qwen Code asks for permission";
const id = { idField: "data.session_id" };

export function qwen({ env, platform }: Machine): AgentDefinition {
  const defaults = env["QWEN_CODE_SYSTEM_DEFAULTS_PATH"] ?? systemDefaultsPath[platform];
  const readsOurSettings = defaults !== undefined && !existsSync(defaults);
  return {
    id: "qwen",
    label: "Qwen Code",
    install: "Install it with `npm install -g @qwen-code/qwen-code`, then run `qwen` once to sign in.",
    npm: "@qwen-code/qwen-code",
    version: ["qwen", "--version"],
    model: { terminal: ["-m", "{model}"], chat: { args: ["-m", "{model}"] } },
    env: {},
    hosts: ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "chat.qwen.ai", "openrouter.ai", "api.openai.com"],
    variables: {
      reads: ["QWEN_*", "DASHSCOPE_*", "BAILIAN_*", "OPENAI_*"],
      marks: ["QWEN_CODE", "QWEN_CODE_NO_RELAUNCH", "QWEN_CODE_IDE_*"],
    },
    ownFolders: [
      {
        name: ".qwen",
        share: ["oauth_creds.json"],
        copy: [
          "settings.json",
          "QWEN.md",
          "trustedFolders.json",
          "installation_id",
          "extensions",
          "commands",
          "skills",
        ],
      },
    ],
    terminal: {
      ...terminalDefaults,
      start: ["qwen", "--session-id", "{id}"],
      resume: ["qwen", "--resume", "{id}"],
      conversationId: "chosen",
      files: readsOurSettings
        ? [hookScriptFile, { name: "qwen-defaults.json", text: `${JSON.stringify(systemDefaults, null, 2)}\n` }]
        : [],
      env: readsOurSettings
        ? { [hooksVariable]: "{hooks}", QWEN_CODE_SYSTEM_DEFAULTS_PATH: "{hooks}/qwen-defaults.json" }
        : {},
      hookRules: [
        { event: "SessionStart", activity: null, ...id },
        { event: "UserPromptSubmit", activity: "working", promptField: "data.prompt", ...id },
        { event: "PreToolUse", activity: "working" },
        { event: "PermissionRequest", activity: "needs_input", reason: permission },
        { event: "PostToolUse", activity: "working" },
        { event: "PostToolUseFailure", activity: "working" },
        { event: "Stop", activity: "idle", messageField: "data.last_assistant_message", ...id },
        { event: "StopFailure", activity: "idle" },
      ],
      screenRules: [
        dialog(/Do you trust (the files in )?this folder\?/, "Qwen Code asks whether to trust this folder"),
        dialog(
          /How would you like to authenticate|Select Authentication Method|Waiting for Qwen OAuth/i,
          "Qwen Code is not signed in: attach and sign in",
        ),
        dialog(/Waiting for user confirmation/, permission),
        dialog(/[\u203a\u25cf] \d\. /, "Qwen Code asks to choose from a list"),
        { where: "screen", pattern: /esc to cancel\)|Resuming session\.\.\./, activity: "working" },
        { where: "screen", pattern: /^>   Type your message/m, activity: "idle" },
      ],
      conversationGone: [/No saved session found with (ID|title)/],
      begun: /^ {2}> (?! *Type your message)\S|^ {2}\u2726 /m,
      // Within 40 ms of a paste it takes Enter for a line break.
      pasteGuardMs: 250,
      input: {
        // A zero-width space marks the cursor.
        line: /^(?:[>*](?= )|(?=! ))([^]*?)[ \u200b]*\n(?=\u2500)/gm,
        empty: /^\s*(Type your message.*)?$/,
        clear: "C-c",
      },
      confirmMs: 30_000,
    },
    chat: {
      command: ["qwen", "--acp"],
      // Or it starts itself again as a child, a second slower.
      env: { QWEN_CODE_NO_RELAUNCH: "true" },
      notFound: [],
      opensUnknown: true,
      deleteHint: "Delete its file below ~/.qwen/projects, which is named after the conversation.",
    },
  };
}
