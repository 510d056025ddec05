/**
 * What Codex writes to its own config when the person answers "Trust all and continue" to our hooks. The lane's Codex
 * has a home of its own where nobody can answer, so the answer is written there; in a person's home it is theirs.
 */
import { createHash } from "node:crypto";
import { codexHooks } from "../../src/agents/codex.ts";
import { hookCommand } from "../../src/agents/hook-script.ts";

export function codexTrust(): string {
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
