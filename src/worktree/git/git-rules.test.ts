import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { repositoryHooksOff } from "./git-rules.ts";

test("[GIT-1] a call that stores switches off each hook that the repository's configuration names", async () => {
  const gitDir = mkdtempSync(join(tmpdir(), "hf-hooks-"));
  onTestFinished(() => rmSync(gitDir, { recursive: true }));
  let asked = 0;
  const off = (): Promise<unknown> =>
    repositoryHooksOff({ gitDir }, () => {
      asked += 1;
      return Promise.resolve({ stdout: "hook.a.b.command\0hook.a.b.event\0" });
    });
  const entries = [
    ["hook.a.b.enabled", "false"],
    ["hook.a.b.event", ""],
  ];
  writeFileSync(join(gitDir, "config"), "[core]\n\tbare = false\n");
  expect([await off(), asked]).toEqual([[], 0]);
  const named = ['[Hook "a.b"]\n\tcommand = evil\n', "[include]\n\tpath = x\n", `${"#".repeat(70_000)}\n`];
  for (const text of named) {
    writeFileSync(join(gitDir, "config"), text);
    expect(await off()).toEqual([...entries, ...entries]);
  }
  // The directory of a worktree has its configuration elsewhere.
  rmSync(join(gitDir, "config"));
  expect(await off()).toEqual([...entries, ...entries]);
  expect(asked).toBe(4);
});
