/** How to run a real agent against the model server: its own home, past every first-run dialog, with no account. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codexTrust } from "./codex-trust.ts";
import { binDirectory } from "./packages.ts";

export const realAgents = ["claude", "codex", "gemini", "opencode"] as const;
export type RealAgent = (typeof realAgents)[number];

export interface Prepared {
  /** For the agent's process, PATH with the lane's agents included. */
  env: Record<string, string>;
  /** How its question looks: a hook may tell of it before it can be answered. */
  asks: RegExp;
  /** tmux keys that allow what the agent asks for, once. */
  allow: string[];
  /** Where it keeps its conversations, below its home. */
  conversations: string[];
}

export interface PrepareOptions {
  home: string;
  modelUrl: string;
  /** Folders that Codex is to trust; it asks about every repository that it does not know. */
  folders: string[];
  /** False leaves Codex to ask about our hooks, as it does at a person's first start. */
  trustHooks?: boolean;
  /** For a chat session; Codex's terminal interface does not take the policy that makes its adapter ask. */
  chat?: boolean;
}

/** Writes the agent's files below `home` and gives its environment. */
export function prepareRealAgent(name: RealAgent, options: PrepareOptions): Prepared {
  const { home, modelUrl } = options;
  mkdirSync(home, { recursive: true });
  const shared = { HOME: home, LANG: "C.UTF-8", PATH: `${binDirectory()}:${process.env["PATH"] ?? ""}` };
  switch (name) {
    case "claude":
      return {
        env: { ...shared, ...claudeHome(home, modelUrl) },
        asks: /Do you want to proceed/,
        allow: ["1"],
        conversations: [".claude/projects"],
      };
    case "codex":
      writeFile(join(home, ".codex/config.toml"), codexConfig(options));
      // The terminal interface asks only where a rule says so.
      writeFile(join(home, ".codex/rules/lane.rules"), 'prefix_rule(pattern=["touch"], decision="prompt")\n');
      return {
        env: { ...shared, CODEX_HOME: join(home, ".codex"), SCRIPTED_API_KEY: "scripted" },
        asks: /Would you like to run/,
        allow: ["y"],
        conversations: [".codex/sessions"],
      };
    case "gemini":
      writeFile(join(home, ".gemini/settings.json"), toJson(geminiSettings));
      return {
        env: { ...shared, GEMINI_API_KEY: "scripted", GOOGLE_GEMINI_BASE_URL: modelUrl },
        asks: /Allow execution/,
        allow: ["Enter"],
        conversations: [".gemini/tmp"],
      };
    case "opencode":
      writeFile(join(home, ".config/opencode/opencode.json"), toJson(opencodeConfig(modelUrl)));
      return {
        env: { ...shared, ...opencodeEnv },
        asks: /Permission required/,
        allow: ["Enter"],
        conversations: [".local/share/opencode"],
      };
    default:
      return name satisfies never;
  }
}

function claudeHome(home: string, modelUrl: string): Record<string, string> {
  const state = join(home, ".claude/.claude.json");
  // Claude Code keeps state of its own in this file, so it is only written where there is none.
  if (!existsSync(state)) {
    const projects = { "/": { hasTrustDialogAccepted: true } };
    writeFile(state, toJson({ hasCompletedOnboarding: true, projects }));
  }
  return {
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    ANTHROPIC_BASE_URL: modelUrl,
    // With an API key instead, it asks whether to use the key.
    ANTHROPIC_AUTH_TOKEN: "scripted",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  };
}

/** A model that Codex knows, or it warns in the conversation; no sandbox, for it needs bubblewrap. */
function codexConfig({ modelUrl, folders, trustHooks = true, chat = false }: PrepareOptions): string {
  const trusted = folders.map((folder) => `[projects.${JSON.stringify(folder)}]\ntrust_level = "trusted"\n`);
  return `model = "gpt-5.4"
model_provider = "scripted"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
${chat ? 'approval_policy = "untrusted"\n' : ""}
[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"

[analytics]
enabled = false

${trusted.join("\n")}
${trustHooks ? codexTrust() : ""}`;
}

const geminiSettings = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  // Fixed, or each turn begins with a request that asks which model to use.
  model: { name: "gemini-2.5-pro" },
  general: {
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    sessionRetention: { enabled: false },
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

const opencodeEnv = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  // At its start it installs a package of its own and waits for that; a closed port keeps it off the network, and
  // without retries it gives up at once instead of after 70 s.
  NPM_CONFIG_REGISTRY: "http://127.0.0.1:9",
  NPM_CONFIG_FETCH_RETRIES: "0",
};

function opencodeConfig(modelUrl: string): unknown {
  const limit = { context: 200_000, output: 8_000 };
  return {
    model: "scripted/scripted",
    small_model: "scripted/scripted",
    autoupdate: false,
    share: "disabled",
    permission: { bash: "ask", edit: "ask" },
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        name: "scripted",
        options: { baseURL: `${modelUrl}/v1`, apiKey: "scripted" },
        models: { scripted: { name: "scripted", tool_call: true, limit } },
      },
    },
  };
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
