import { expect, test } from "vitest";
import { awayFrom, awayMs } from "./use-away.ts";

const items = [{ seq: 1 }, { seq: 4 }, { seq: 9 }];

test.each([
  ["items after the last visit", { seq: 4, at: 0 }, awayMs, 9],
  ["a short absence does not count", { seq: 4, at: 1 }, awayMs, null],
  ["no new items", { seq: 9, at: 0 }, awayMs, null],
  ["never opened before", null, awayMs, null],
  ["opened before the first item", { seq: 0, at: 0 }, awayMs, null],
])("[WEB-66] %s", (_, seen, now, seq) => {
  expect(awayFrom(seen, items, now)).toBe(seq);
});
