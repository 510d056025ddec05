import { describe, expect, test } from "vitest";
import { reduce } from "./reduce.ts";
import type { SessionEvent } from "../contract/event.ts";
import { asSessionId } from "../contract/ids.ts";
import type { PullRequestFacts } from "../contract/tracker.ts";
import { formatDuration } from "./duration.ts";
import { differs, isTaken, staleAfterMs } from "./pull-requests.ts";
import { statusOf } from "./status.ts";
import { absent, alive, created, ended, fold, ready, started, t0, up } from "../supervisor/facts.fixture.ts";
import { check, issueSeen, pullRequest, seen } from "../integrations/reactions/pull-request.fixture.ts";

const now = t0 + 60_000;
const options = { stuckAfterMs: 30 * 60_000 };
const upNow = [created, ready, started, up];
const green = [check("test", "passed"), check("docs", "skipped")];
const red = [check("lint", "failed"), check("test", "pending")];

describe("[TRACKER-26] an idle session's pull request is its status", () => {
  type Row = [title: string, facts: Partial<PullRequestFacts>, status: string, reason: string | null];
  const rows: Row[] = [
    ["open", {}, "pr_open", null],
    ["draft", { draft: true, mergeable: true, checks: green }, "pr_open", "a draft"],
    ["a check pending", { checks: [check("test", "pending")] }, "pr_open", "waiting for test"],
    ["a check failed", { checks: red, review: "approved" }, "ci_failed", "failed: lint"],
    ["a failed check of a draft", { checks: red, draft: true }, "ci_failed", "failed: lint"],
    [
      "many checks failed",
      { checks: ["a", "b", "c", "d", "e"].map((name) => check(name, "failed")) },
      "ci_failed",
      "failed: a, b, c and 2 more",
    ],
    ["failed and changes requested", { checks: red, review: "changes_requested" }, "ci_failed", "failed: lint"],
    ["changes requested", { checks: green, review: "changes_requested" }, "changes_requested", null],
    ["review missing", { checks: green, review: "required" }, "review_pending", null],
    [
      "review missing, says the host, though mergeable",
      { review: "required", mergeable: true },
      "review_pending",
      null,
    ],
    [
      "approved, checks pending",
      { review: "approved", checks: [check("test", "pending")] },
      "approved",
      "waiting for test",
    ],
    ["approved, host has not found out", { review: "approved", checks: green }, "approved", null],
    ["approved, conflict", { review: "approved", conflict: true, mergeable: false }, "approved", "conflicts with main"],
    ["approved and green", { review: "approved", checks: green, mergeable: true }, "mergeable", null],
    [
      "mergeable says the host, a check pending",
      { mergeable: true, checks: [check("t", "pending")] },
      "pr_open",
      "waiting for t",
    ],
    ["no review wanted, green", { checks: green, mergeable: true }, "mergeable", null],
    ["conflict", { conflict: true }, "pr_open", "conflicts with main"],
    ["merged", { state: "merged", checks: red }, "merged", null],
    ["closed", { state: "closed" }, "idle", "its pull request was closed without being merged"],
  ];
  test.each(rows)("%s", (_title, facts, status, reason) => {
    const session = fold([...upNow, seen(facts)]);
    expect(statusOf(session, alive(), now, options)).toEqual({ status, reason });
    expect(statusOf(session, alive({ activity: "working" }), now, options).status).toBe("working");
    expect(statusOf(session, alive({ activity: "needs_input" }), now, options).status).toBe("needs_input");
  });
});

test("[TRACKER-27] an unconfirmed fact is shown with its age, unless it is final", () => {
  const session = fold([...upNow, seen({ review: "required" })]);
  const later = t0 + staleAfterMs + 3 * 60_000;
  const asked = (polledAt: number | null) => statusOf(session, alive(), later, { ...options, polledAt });
  expect(asked(null)).toEqual({
    status: "review_pending",
    reason: "as of 13 min ago; tracker unreachable since then",
  });
  expect(asked(later - 60_000)).toEqual({ status: "review_pending", reason: null });
  const merged = fold([...upNow, seen({ state: "merged" })]);
  expect(statusOf(merged, alive(), later * 10, options)).toEqual({ status: "merged", reason: null });
  expect([formatDuration(60_000, 1), formatDuration(2 * 3_600_000, 1), formatDuration(72 * 3_600_000, 1)]).toEqual([
    "1 min",
    "2 h",
    "3 d",
  ]);
});

test("[TRACKER-28] a session that ended by itself is done once its pull request or issue is", () => {
  const end = [...upNow, ended("own-exit")];
  expect(statusOf(fold([...end, seen({ state: "merged" })]), absent, now, options).status).toBe("done");
  expect(statusOf(fold([...end, issueSeen("closed")]), absent, now, options).status).toBe("done");
  expect(statusOf(fold([...end, issueSeen("open"), seen()]), absent, now, options).status).toBe("exited");
});

test("[TRACKER-25] a pull request that another session claimed is recognized, also in state of an earlier build", () => {
  const lost = { type: "pull-request.lost", url: pullRequest().url } as const;
  const of = (...events: SessionEvent[]) => fold([...upNow, seen(), ...events]).pullRequests![0]!;
  expect(isTaken(of({ ...lost, reason: "claimed by ma-2", takenBy: asSessionId("ma-2") }))).toBe(true);
  expect(isTaken(of({ ...lost, reason: "claimed by ma-2" }))).toBe(true);
  expect(isTaken(of({ ...lost, reason: "its host no longer shows it" }))).toBe(false);
  const claimed = { type: "pull-request.claimed", url: lost.url, by: "person" } as const;
  const again = of({ ...lost, reason: "x", takenBy: asSessionId("ma-2") }, claimed, { ...lost, reason: "gone" });
  expect([again.lost, isTaken(again)]).toEqual(["gone", false]);
});

test("[TRACKER-25] the pull request that counts: open, then merged, then closed, the newest of these", () => {
  const url = (number: number): string => `https://example.test/owner/my-app/pull/${number}`;
  const one = (number: number, state: PullRequestFacts["state"]) => seen({ number, url: url(number), state });
  const all = [...upNow, one(3, "closed"), one(4, "merged"), one(5, "merged"), one(6, "open"), one(2, "open")];
  expect(fold(all).pullRequest).toEqual({ url: url(6), state: "open" });
  const lost = [
    ...all,
    ...[6, 2].map((number) => ({ type: "pull-request.lost" as const, url: url(number), reason: "gone" })),
  ];
  expect(fold(lost).pullRequest).toEqual({ url: url(5), state: "merged" });
  expect(fold([...lost, one(2, "open")]).pullRequest).toEqual({ url: url(2), state: "open" });
  const claimed = { type: "pull-request.claimed" as const, url: url(6), by: "person" };
  expect(fold([...lost, claimed]).pullRequest).toEqual({ url: url(6), state: "open" });
  expect(
    fold([...lost, claimed, one(6, "merged")]).pullRequests?.find(({ facts }) => facts.number === 6),
  ).toMatchObject({
    claimed: true,
    lost: null,
  });
});

test("[TRACKER-24] only what is different is a difference", () => {
  const facts = pullRequest({ checks: red, conflict: false, mergeable: true });
  const before = { facts, seenAt: t0, claimed: false, lost: null };
  expect(differs(undefined, facts)).toBe(true);
  expect(differs(before, facts)).toBe(false);
  expect(differs(before, { ...facts, updatedAt: 99, checks: red.toReversed() })).toBe(false);
  expect(differs(before, { ...facts, conflict: null, mergeable: null })).toBe(false);
  expect(differs(before, { ...facts, conflict: true })).toBe(true);
  expect(differs(before, { ...facts, headSha: "b".repeat(40) })).toBe(true);
  expect(differs(before, { ...facts, checks: green })).toBe(true);
  expect(differs({ ...before, lost: "gone" }, facts)).toBe(true);
});

test("[TRACKER-29] what a tracker says is not the session's activity", () => {
  const session = fold(upNow);
  const events = [
    seen(),
    issueSeen("closed"),
    {
      type: "reaction.fired" as const,
      reaction: "ci-failed" as const,
      action: "send-to-agent" as const,
      why: "",
      key: "k",
      attempt: 1,
    },
    { type: "notification" as const, id: "n", title: "", text: "", why: "", channels: ["desktop"] },
  ];
  const after = events.reduce(
    (state, event, index) => reduce(state, { ...event, seq: state.seq + 1, at: now + index }),
    session,
  );
  expect(after.lastActivityAt).toBe(session.lastActivityAt);
  expect(after).toMatchObject({
    untold: ["n"],
    reactions: { "ci-failed": { keys: ["k"], attempts: 1, escalated: false } },
  });
});

test("[TRACKER-24] of many checks the failed ones are kept", () => {
  const many = Array.from({ length: 500 }, (_, index) => check(`ok ${index}`, "passed"));
  const session = fold([...upNow, seen({ checks: [...many, check("bad", "failed")] })]);
  const kept = session.pullRequests?.[0]?.facts.checks ?? [];
  expect(kept.length).toBeLessThan(100);
  expect(kept[0]?.name).toBe("bad");
});
