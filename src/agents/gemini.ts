/**
 * Gemini CLI, seen with 0.61.0. It reads a settings file named by a variable only if root owns it and every directory
 * above it, so hooks are installed only if we are root; otherwise its window title shows its activity. Its clean-up at
 * start can delete conversations that were resumed before; the same file disables that.
 */
import { existsSync } from "node:fs";
import type { AgentDefinition, Machine } from "../ports/agents.ts";
import { readGeminiPrompts } from "./transcripts.ts";
import { dialog, terminalDefaults } from "./defaults.ts";
import { hookCommand, hookScriptFile, hooksVariable } from "./hook-script.ts";

/** Milliseconds. */
const hookTimeout = 5000;

const events = ["SessionStart", "BeforeAgent", "BeforeTool", "Notification", "AfterTool", "AfterAgent", "SessionEnd"];

const general = { sessionRetention: { enabled: false } };

/** Defaults: settings of the user or the administrator still win. */
const systemDefaults = {
  general,
  hooks: Object.fromEntries(
    events.map((event) => [
      event,
      [{ hooks: [{ type: "command", name: `holdfast-${event}`, command: hookCommand(event), timeout: hookTimeout }] }],
    ]),
  ),
};

const permission = "Gemini asks for permission";
const id = { idField: "data.session_id" };

/** The administrator's defaults, which ours would hide. */
const systemDefaultsPath: Partial<Record<NodeJS.Platform, string>> = {
  linux: "/etc/gemini-cli/system-defaults.json",
  darwin: "/Library/Application Support/GeminiCli/system-defaults.json",
};

export function gemini({ env, platform, isRoot }: Machine): AgentDefinition {
  const defaults = env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] ?? systemDefaultsPath[platform];
  const trustsOurSettings = isRoot && defaults !== undefined && !existsSync(defaults);
  return {
    id: "gemini",
    label: "Gemini CLI",
    install: "Install it with `npm install -g @google/gemini-cli`, then run `gemini` once to sign in.",
    npm: "@google/gemini-cli",
    version: ["gemini", "--version"],
    model: { terminal: ["-m", "{model}"], chat: { args: ["-m", "{model}"] } },
    env: {},
    hosts: [
      "generativelanguage.googleapis.com",
      "cloudcode-pa.googleapis.com",
      "oauth2.googleapis.com",
      "accounts.google.com",
      "www.googleapis.com",
    ],
    variables: {
      reads: ["GEMINI_*", "GOOGLE_*"],
      marks: ["GEMINI_CLI", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_CLI_IDE_*"],
    },
    ownFolders: [
      {
        name: ".gemini",
        share: ["oauth_creds.json"],
        copy: [
          "settings.json",
          "GEMINI.md",
          "trustedFolders.json",
          "google_accounts.json",
          "installation_id",
          "extensions",
          "commands",
          "policies",
        ],
      },
    ],
    notes: trustsOurSettings ? [] : [retentionNote],
    terminal: {
      ...terminalDefaults,
      start: ["gemini", "--session-id", "{id}"],
      resume: ["gemini", "--resume", "{id}"],
      conversationId: "chosen",
      files: trustsOurSettings
        ? [hookScriptFile, { name: "gemini-defaults.json", text: `${JSON.stringify(systemDefaults, null, 2)}\n` }]
        : [],
      env: trustsOurSettings
        ? { [hooksVariable]: "{hooks}", GEMINI_CLI_SYSTEM_DEFAULTS_PATH: "{hooks}/gemini-defaults.json" }
        : {},
      hookRules: [
        // Fires while its trust dialog is still open; the title shows when it is ready.
        { event: "SessionStart", activity: null, ...id },
        { event: "BeforeAgent", activity: "working", promptField: "data.prompt", ...id },
        { event: "BeforeTool", activity: "working" },
        { event: "Notification", activity: "needs_input", reason: permission },
        { event: "AfterTool", activity: "working" },
        { event: "AfterAgent", activity: "idle", messageField: "data.prompt_response" },
        { event: "SessionEnd", activity: null },
      ],
      screenRules: [
        // Its title is "Ready" while these are open.
        dialog(/Do you trust the files in this folder\?/, "Gemini asks whether to trust this folder"),
        dialog(
          /How would you like to authenticate|Waiting for authentication|Enter Gemini API Key/,
          "Gemini is not signed in: attach and sign in",
        ),
        dialog(/Usage limit reached for/, "Gemini has reached a usage limit and asks how to continue"),
        { where: "title", pattern: /^\u270b/, activity: "needs_input", reason: permission },
        dialog(/\u25cf \d\. /, "Gemini asks to choose from a list"),
        { where: "title", pattern: /^\u2726/, activity: "working" },
        // A moment before its title changes.
        { where: "screen", pattern: /\(esc to cancel, |Resuming session\.\.\./, activity: "working" },
        { where: "title", pattern: /^\u25c7/, activity: "idle" },
      ],
      conversationGone: [/Error resuming session: (No previous sessions found|Invalid session identifier)/],
      // It shows an empty input line for a second or two, then the conversation with another one.
      begun: /^ ?> (?! *Type your message)\S|^\u2726 /m,
      // Within 40 ms of a paste, and until it has redrawn, Enter becomes a line break.
      pasteGuardMs: 250,
      input: {
        line: /^ ?(?:[>*](?= )|(?=! ))([^]*?)\n(?=\u2500|\u2580)/gm,
        empty: /^\s*(Type your message.*)?$/,
        clear: "C-c",
        keeps: /Queued \(press \u2191 to edit\)/,
      },
      confirmMs: 30_000,
      readPrompts: readGeminiPrompts,
    },
    chat: {
      command: ["gemini", "--acp"],
      env: {
        // Otherwise it restarts itself as a child: a second slower, and the parent ignores SIGTERM.
        GEMINI_CLI_NO_RELAUNCH: "true",
        ...(trustsOurSettings ? { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: "{hooks}/gemini-defaults.json" } : {}),
      },
      files: trustsOurSettings
        ? [{ name: "gemini-defaults.json", text: `${JSON.stringify({ general }, null, 2)}\n` }]
        : [],
      notFound: [{ code: -32_603, message: /Invalid session identifier|No previous sessions found/ }],
      // Its own command takes a number in a list that changes.
      deleteHint: "Find it with `gemini --list-sessions`, then `gemini --delete-session <number>`.",
      replayEnds: "commands",
      noLoadInBirthMinute: true,
    },
  };
}

const retentionNote =
  "Gemini's clean-up can delete conversations that were resumed before. " +
  'Put "general": {"sessionRetention": {"enabled": false}} into ~/.gemini/settings.json to keep them.';
