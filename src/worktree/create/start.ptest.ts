import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { isBranchName } from "./start.ts";

test("[WORKTREE-1] agrees with git about what a branch may be called", () => {
  const names = ["a", "a/b", "#(x)", "-a", "a..b", "a.lock", "a.lock/b", ".a", "a/.b", "a.", "/a", "a/", "a//b"];
  names.push("a b", "a~", "a^", "a:", "a?", "a*", "a[", "a\\", "a@{b", "\u0007", "ü", "HEAD", "a@b", "", "a\u007f");
  for (const name of names) {
    const git = spawnSync("git", ["check-ref-format", "--branch", name], { stdio: "ignore" });
    expect({ name, is: isBranchName(name) }).toEqual({ name, is: git.status === 0 });
  }
  // git takes `@` for the current branch.
  expect(isBranchName("@")).toBe(false);
});
