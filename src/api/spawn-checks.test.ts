import { expect, test } from "vitest";
import { lowDisk } from "./spawn-checks.ts";

test("[SESSION-8] a full disk is named once where the worktrees are on it, also before there are any", () => {
  // Has no room, and is a disk of its own.
  const home = "/proc";
  expect(lowDisk({ home, worktrees: "/proc/none/worktrees" })).toEqual([]);
  expect(lowDisk({ home, worktrees: "/none/worktrees" })).toEqual([expect.stringContaining("Only 0 MB are free")]);
});
