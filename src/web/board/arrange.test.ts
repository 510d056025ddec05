import { expect, test } from "vitest";
import type { SessionJson } from "../../contract/session.ts";
import { arrange, keepSame, moves, noColumns } from "./arrange.ts";

const at = (minute: number, second = 0): string => new Date(Date.UTC(2026, 0, 1, 0, minute, second)).toISOString();
const session = (id: string, over: Partial<SessionJson> = {}): SessionJson =>
  ({
    id,
    title: `Title of ${id}`,
    project: "my-app",
    agent: "demo",
    kind: "chat",
    branch: `branch-${id}`,
    issue: null,
    status: "idle",
    reason: null,
    createdAt: at(0),
    lastActivityAt: at(0),
    ...over,
  }) as SessionJson;
const all = { project: null, query: "", sort: "name" } as const;

test("[WEB-2] [DECIDE-15] [DECIDE-16] each session is in the column of what it needs", () => {
  const columns = arrange(
    [
      session("ma-1", { status: "needs_input" }),
      session("ma-2", { status: "working" }),
      session("ma-3", { status: "approved" }),
      session("ma-4", { status: "stopped" }),
      session("ma-5", { status: "killed" }),
      session("ma-6", { status: "failed" }),
      session("ma-7", { status: "idle", needsYou: true, reason: "its last turn failed" }),
      session("ma-8", { status: "running", needsYou: false }),
    ],
    all,
  );
  expect(columns).toEqual({
    you: ["ma-1", "ma-6", "ma-7"],
    working: ["ma-2", "ma-8"],
    review: ["ma-3"],
    idle: ["ma-4"],
    ended: ["ma-5"],
  });
});

test("[WEB-3] names are in natural order, creation newest first, activity by the minute", () => {
  const sessions = [
    session("ma-10", { createdAt: at(1), lastActivityAt: at(5, 59) }),
    session("ma-2", { createdAt: at(3), lastActivityAt: at(5, 1) }),
    session("ma-3", { createdAt: at(2), lastActivityAt: at(6) }),
  ];
  expect(arrange(sessions, all).idle).toEqual(["ma-2", "ma-3", "ma-10"]);
  expect(arrange(sessions, { ...all, sort: "created" }).idle).toEqual(["ma-2", "ma-3", "ma-10"]);
  expect(arrange(sessions, { ...all, sort: "activity" }).idle).toEqual(["ma-3", "ma-2", "ma-10"]);
});

test("[WEB-3] a search matches every word; the project filter is exact", () => {
  const sessions = [
    session("ma-1", { title: "Fix the Login" }),
    session("ot-1", { project: "other", agent: "claude" }),
  ];
  expect(arrange(sessions, { ...all, query: "login FIX" }).idle).toEqual(["ma-1"]);
  expect(arrange(sessions, { ...all, query: "claude login" }).idle).toEqual([]);
  expect(arrange(sessions, { ...all, query: "branch-ot" }).idle).toEqual(["ot-1"]);
  expect(arrange(sessions, { ...all, project: "my-app" }).idle).toEqual(["ma-1"]);
});

test("[WEB-4] only a change of a session's position sorts the board again", () => {
  const before = session("ma-1", { lastActivityAt: at(5, 1) });
  const by = { ...all, sort: "activity" } as const;
  expect(moves(before, { ...before, reason: "words", lastActivityAt: at(5, 2) }, by)).toBe(false);
  expect(moves(before, { ...before, lastActivityAt: at(6) }, by)).toBe(true);
  expect(moves(before, { ...before, lastActivityAt: at(6) }, all)).toBe(false);
  expect(moves(before, { ...before, status: "working" }, all)).toBe(true);
  expect(moves(undefined, before, all)).toBe(true);
  expect(moves(before, before, { ...all, query: "x" })).toBe(true);
});

test("[WEB-4] unchanged columns stay the same objects", () => {
  const first = keepSame(noColumns, arrange([session("ma-1"), session("ma-2", { status: "working" })], all));
  const same = keepSame(
    first,
    arrange([session("ma-1", { reason: "x" }), session("ma-2", { status: "working" })], all),
  );
  expect(same).toBe(first);
  const moved = keepSame(first, arrange([session("ma-1"), session("ma-2", { status: "killed" })], all));
  expect(moved.idle).toBe(first.idle);
  expect(moved.ended).toEqual(["ma-2"]);
});
