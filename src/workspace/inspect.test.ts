import { expect, test } from "vitest";
import { asSessionId, asTrashId } from "../protocol/ids.ts";
import type { TrashEntry } from "../ports/workspace.ts";
import { expired } from "./empty.ts";
import { parseStatus } from "./inspect.ts";

test("[WORKTREE-10] reads git's status, names with spaces and newlines included", () => {
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

test("[TRASH-7] an entry expires after fourteen days", () => {
  const day = 24 * 60 * 60_000;
  const entry = (id: string, trashedAt: number): TrashEntry => ({
    id: asTrashId(id),
    session: asSessionId("ab-1"),
    repository: "/r",
    path: "/p",
    branch: null,
    ref: null,
    trashedAt,
    uncommitted: 0,
    unpushed: [],
  });
  const entries = [entry("old", 0), entry("new", 1)];
  expect(expired(entries, 14 * day).map(({ id }) => id)).toEqual(["old"]);
  expect(expired(entries, 2 * day, 1).map(({ id }) => id)).toEqual(["old", "new"]);
});
