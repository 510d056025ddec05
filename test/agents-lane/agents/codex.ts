import { createHash } from "node:crypto";
import { join } from "node:path";
import { codexHooks } from "../../../src/agents/codex.ts";
import { hookCommand } from "../../../src/agents/hook-script.ts";
import { writeFile, type LaneAgent, type PrepareOptions } from "./lane-agent.ts";

export const codex: LaneAgent = {
  packages: [
    { name: "@openai/codex", version: "0.166.0", command: "codex" },
    { name: "@zed-industries/codex-acp", version: "0.16.0", command: null },
  ],
  prepare(options) {
    const folder = join(options.home, ".codex");
    writeFile(join(folder, "config.toml"), config(options));
    // The terminal interface asks only if a rule requires it.
    writeFile(join(folder, "rules/lane.rules"), 'prefix_rule(pattern=["touch"], decision="prompt")\n');
    return { CODEX_HOME: folder, SCRIPTED_API_KEY: "scripted" };
  },
  asks: /Would you like to run/,
  allow: ["y"],
  conversations: [".codex/sessions"],
  setting: {
    pick: { option: { id: "reasoning_effort", value: "high" } },
    method: "session/set_config_option",
    value: "high",
  },
};

/** A model that Codex knows, or it warns in the conversation; no sandbox, because that needs bubblewrap. */
function config({ modelUrl, folders, trustHooks = true, chat = false }: PrepareOptions): string {
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
${trustHooks ? hookTrust() : ""}`;
}

/**
 * What Codex writes to its config when the user answers "Trust all and continue" to our hooks. The lane's Codex has its
 * own home, where nothing can answer.
 */
function hookTrust(): string {
  const entries = Object.entries(codexHooks).map(([event, timeout]) => {
    const name = event.replaceAll(/(?<!^)[A-Z]/g, "_$&").toLowerCase();
    // Keys in alphabetical order: that is what Codex hashes.
    const hook = { async: false, command: hookCommand(event), timeout, type: "command" };
    const digest = createHash("sha256")
      .update(JSON.stringify({ event_name: name, hooks: [hook] }))
      .digest("hex");
    return `[hooks.state."/<session-flags>/config.toml:${name}:0:0"]\ntrusted_hash = "sha256:${digest}"\n`;
  });
  return entries.join("\n");
}
