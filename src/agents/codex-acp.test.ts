import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { codexAcpProgram } from "./codex.ts";

test("[AGENT-22] the program behind the script is found beside its package; any other command is run as it is", () => {
  const directory = mkdtempSync(join(tmpdir(), "codex-acp-"));
  try {
    const modules = join(directory, "node_modules/@zed-industries");
    const script = join(modules, "codex-acp/bin/codex-acp.js");
    const program = join(modules, `codex-acp-${process.platform}-${process.arch}/bin/codex-acp`);
    for (const path of [script, program]) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "", { mode: 0o700 });
    }
    expect(codexAcpProgram(script)).toBe(program);
    rmSync(dirname(program), { recursive: true });
    expect(codexAcpProgram(script)).toBeNull();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
