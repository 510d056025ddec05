import { describe, expect, test } from "vitest";
import type { Status } from "../contract/ids.ts";
import { planCleanup, type CleanupCandidate, checkMerge, workLeft } from "./cleanup.ts";
import {
  absent,
  alive,
  created,
  dead,
  fold,
  intent,
  ready,
  started,
  unknown,
  up,
} from "../supervisor/facts.fixture.ts";

const none = { ahead: [], behindNoHead: [], sameFiles: null, samePatch: null };
const commits = ["a1 one", "b2 two"];

test("[TRACKER-34] what counts as landed, and what is named otherwise", () => {
  expect(checkMerge(none).landed).toBe(true);
  expect(checkMerge({ ...none, ahead: commits }).landed).toBe(true);
  const ahead = { ...none, ahead: commits, behindNoHead: ["b2 two"] };
  expect(checkMerge({ ...ahead, samePatch: true }).landed).toBe(true);
  expect(checkMerge({ ...ahead, sameFiles: true }).landed).toBe(true);
  expect(checkMerge({ ...ahead, sameFiles: false, samePatch: false })).toEqual({
    landed: false,
    commits: ["b2 two"],
  });
  // What git could not tell is not taken for landed.
  expect(checkMerge(ahead).landed).toBe(false);
});

test("[TRACKER-37] what only the worktree holds, in sentences", () => {
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

const session = fold([created, ready, started, up]);
const merged = { url: "https://example.test/1", state: "merged" };
const candidate = (status: Status, more: Partial<CleanupCandidate> = {}): CleanupCandidate => ({
  session,
  status,
  runtime: absent,
  issueClosed: null,
  ...more,
});
const withMerged = { session: { ...session, pullRequest: merged } };

describe("[SESSION-52] what a cleanup would end", () => {
  type Row = [title: string, of: CleanupCandidate, dead: boolean, outcome: "would-kill" | "skipped", why: string];
  const rows: Row[] = [
    [
      "merged and idle",
      candidate("merged", { ...withMerged, runtime: alive() }),
      false,
      "would-kill",
      "its pull request is merged",
    ],
    ["merged and stopped", candidate("stopped", withMerged), false, "would-kill", "its pull request is merged"],
    [
      "issue closed and at work",
      candidate("working", { issueClosed: true, runtime: alive() }),
      false,
      "would-kill",
      "its issue is closed",
    ],
    ["killed", candidate("killed", withMerged), false, "skipped", "already killed"],
    ["killed, --dead", candidate("killed"), true, "skipped", "already killed"],
    ["done", candidate("done", withMerged), false, "skipped", "already done"],
    ["exited", candidate("exited"), false, "skipped", "already exited"],
    ["exited, --dead", candidate("exited"), true, "would-kill", "its agent has exited"],
    ["done, --dead", candidate("done", withMerged), true, "would-kill", "its agent has exited"],
    ["failed, --dead", candidate("failed", { runtime: dead(null) }), true, "would-kill", "it failed"],
    ["failed", candidate("failed"), false, "skipped", "it has no pull request or issue that marks it completed"],
    ["failed but alive, --dead", candidate("failed", { runtime: alive() }), true, "skipped", "its agent is alive"],
    [
      "exited but not observed, --dead",
      candidate("exited", { runtime: unknown }),
      true,
      "skipped",
      "could not be observed: tmux did not answer",
    ],
    [
      "unknown, --dead",
      candidate("unknown", { runtime: unknown }),
      true,
      "skipped",
      "it has no pull request or issue that marks it completed",
    ],
    [
      "at work, --dead",
      candidate("working", { runtime: alive() }),
      true,
      "skipped",
      "it has no pull request or issue that marks it completed",
    ],
    [
      "issue open",
      candidate("idle", { session: { ...session, issue: "12" }, issueClosed: false }),
      false,
      "skipped",
      "its issue is open",
    ],
    [
      "issue not known",
      candidate("idle", { session: { ...session, issue: "12" } }),
      false,
      "skipped",
      "could not check whether its issue is closed",
    ],
    [
      "pull request open",
      candidate("pr_open", { session: { ...session, pullRequest: { ...merged, state: "open" } } }),
      false,
      "skipped",
      "its pull request is not merged",
    ],
    [
      "pull request open when its host was last heard",
      candidate("pr_open", {
        session: { ...session, pullRequest: { ...merged, state: "open" } },
        pullRequestPolled: false,
      }),
      false,
      "skipped",
      "could not check whether its pull request is merged",
    ],
  ];
  test.each(rows)("%s", (_title, of, dead, outcome, why) => {
    expect(planCleanup([of], { dead })).toEqual([{ session: "ma-1", outcome, why }]);
  });

  test("an orchestrator never", () => {
    const orchestrator = { ...session, role: "orchestrator" as const, pullRequest: merged };
    for (const status of ["idle", "exited", "failed"] as const) {
      const lines = planCleanup([candidate(status, { session: orchestrator, issueClosed: true })], { dead: true });
      expect(lines).toEqual([{ session: "ma-1", outcome: "skipped", why: "orchestrators are never cleaned up" }]);
    }
  });

  test("a deleted session is not mentioned", () => {
    const deleted = fold([created, intent({ want: "deleted" })]);
    expect(planCleanup([candidate("killed", { session: deleted })], { dead: true })).toEqual([]);
  });
});
