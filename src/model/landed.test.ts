import { expect, test } from "vitest";
import { judgeLanding, workLeft } from "./landed.ts";

const none = { ahead: [], behindNoHead: [], sameFiles: null, samePatch: null };
const commits = ["a1 one", "b2 two"];

test("[LAND-1] what counts as landed, and what is named otherwise", () => {
  expect(judgeLanding(none).landed).toBe(true);
  expect(judgeLanding({ ...none, ahead: commits }).landed).toBe(true);
  const ahead = { ...none, ahead: commits, behindNoHead: ["b2 two"] };
  expect(judgeLanding({ ...ahead, samePatch: true }).landed).toBe(true);
  expect(judgeLanding({ ...ahead, sameFiles: true }).landed).toBe(true);
  expect(judgeLanding({ ...ahead, sameFiles: false, samePatch: false })).toEqual({
    landed: false,
    commits: ["b2 two"],
  });
  // What git could not tell is not taken for landed.
  expect(judgeLanding(ahead).landed).toBe(false);
});

test("[CLEAN-3] what only the worktree holds, in sentences", () => {
  expect(workLeft({ uncommitted: 0, landing: { landed: true, by: "" } })).toEqual([]);
  expect(workLeft({ uncommitted: 1, landing: null })).toEqual(["1 uncommitted file"]);
  expect(workLeft({ uncommitted: 2, landing: { landed: false, commits: ["a1 one"] } })).toEqual([
    "2 uncommitted files",
    "1 commit that was not merged:",
    "  a1 one",
  ]);
  const many = Array.from({ length: 9 }, (_, index) => `c${index}`);
  expect(workLeft({ uncommitted: 0, landing: { landed: false, commits: many } }).at(-1)).toBe("  and 4 more");
});
