import { expect, test } from "vitest";
import type { SessionJson } from "../contract/session.ts";
import { byColumn, isMoved, marksOf, sortSessions } from "./board.ts";

const session = (id: string, minute: number, over: Partial<SessionJson> = {}): SessionJson =>
  ({
    id,
    status: "idle",
    queued: 0,
    createdAt: new Date(minute * 60_000).toISOString(),
    lastActivityAt: new Date((100 - minute) * 60_000).toISOString(),
    ...over,
  }) as SessionJson;

const ids = (sessions: readonly SessionJson[]): string[] => sessions.map(({ id }) => id);

test("[SESSION-63] pinned sessions come first in every order, and in their own column", () => {
  const sessions = [session("ma-1", 1), session("ma-2", 2), session("ma-10", 3, { pinned: true }), session("ma-3", 4)];
  expect(ids(sortSessions(sessions))).toEqual(["ma-10", "ma-1", "ma-2", "ma-3"]);
  expect(ids(sortSessions(sessions, "created"))).toEqual(["ma-10", "ma-3", "ma-2", "ma-1"]);
  expect(ids(sortSessions(sessions, "activity"))).toEqual(["ma-10", "ma-1", "ma-2", "ma-3"]);
  const two = [
    ...sessions,
    session("ma-9", 5, { pinned: true }),
    session("ma-8", 6, { pinned: true, status: "stuck" }),
  ];
  const columns = byColumn(two);
  expect([ids(columns.idle), ids(columns.you)]).toEqual([["ma-9", "ma-10", "ma-1", "ma-2", "ma-3"], ["ma-8"]]);
});

test("[SESSION-63] a pin moves the session; what moves nothing sorts nothing", () => {
  const before = session("ma-1", 1);
  expect(isMoved(before, { ...before, pinned: true }, "name")).toBe(true);
  const queued: SessionJson = { ...before, pinned: false, queued: 3 };
  expect(isMoved(before, queued, "activity")).toBe(false);
  expect(isMoved(before, { ...before, status: "working" }, "name")).toBe(true);
});

test("[SESSION-63] lists mark pinned sessions beside their status", () => {
  expect(marksOf(session("ma-1", 1))).toEqual([]);
  expect(marksOf(session("ma-1", 1, { pinned: true, queued: 2 }))).toEqual(["pinned", "2 queued"]);
});
