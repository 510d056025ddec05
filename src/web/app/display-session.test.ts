import { expect, test } from "vitest";
import type { SessionJson } from "../../contract/session.ts";
import { looksSame } from "./display-session.ts";

const before = {
  id: "ma-1",
  seq: 4,
  status: "working",
  lastLine: "one",
  lastActivityAt: "2026-01-01T10:00:00.000Z",
  permissions: [],
} as unknown as SessionJson;

test.each<[string, Partial<SessionJson>, boolean]>([
  ["another word", { seq: 5, lastLine: "two", lastActivityAt: "2026-01-01T10:00:01.000Z" }, true],
  ["another status", { status: "idle" }, false],
  ["a later time", { lastActivityAt: "2026-01-01T10:00:40.000Z" }, false],
])("[WEB-53] %s: whether the session's page looks the same", (_, change, same) => {
  expect(looksSame(before, { ...before, ...change })).toBe(same);
});
