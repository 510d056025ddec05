import { existsSync } from "node:fs";
import { join } from "node:path";
import { toJson, writeFile, type LaneAgent } from "./lane-agent.ts";

export const claude: LaneAgent = {
  packages: [
    { name: "@anthropic-ai/claude-code", version: "2.1.197", command: "claude" },
    { name: "@agentclientprotocol/claude-agent-acp", version: "0.49.0", command: null },
  ],
  prepare({ home, modelUrl }) {
    const state = join(home, ".claude/.claude.json");
    // Claude Code keeps its own state in this file, so an existing one is not overwritten.
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
  },
  asks: /Do you want to proceed/,
  allow: ["1"],
  conversations: [".claude/projects"],
  setting: { pick: { mode: "plan" }, method: "session/set_mode", value: "plan" },
  writesLate: true,
};
