import { expect, test } from "vitest";
import { parseStatus } from "./inspect.ts";

test("[WORKTREE-14] reads git's status, names with spaces and newlines included", () => {
  const zero = "0".repeat(40);
  const text = [
    "# branch.oid abc",
    "# branch.head main",
    `1 M. N... 100644 100644 100644 ${zero} ${zero} staged file`,
    `1 .D N... 100644 100644 000000 ${zero} ${zero} gone`,
    `1 .M SC.. 160000 160000 160000 ${zero} ${zero} sub`,
    `u UU N... 100644 100644 100644 100644 ${zero} ${zero} ${zero} both sides`,
    "? new\nline",
    "",
  ].join("\0");
  const { head, changes } = parseStatus(text);
  expect(head).toBe("abc");
  expect(changes.map(({ path, is, staged, unstaged, submodule }) => [path, is, staged, unstaged, submodule])).toEqual([
    ["staged file", "tracked", true, false, false],
    ["gone", "tracked", false, true, false],
    ["sub", "tracked", false, true, true],
    ["both sides", "unmerged", true, true, false],
    ["new\nline", "untracked", false, true, false],
  ]);
  expect(parseStatus("# branch.oid (initial)\0").head).toBeNull();
});
