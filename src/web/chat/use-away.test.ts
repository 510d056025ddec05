import { expect, test } from "vitest";
import { awayFrom, awayMs } from "./use-away.ts";

const items = [{ seq: 1 }, { seq: 4 }, { seq: 9 }];

test.each([
  ["what came after the last look", { seq: 4, at: 0 }, awayMs, 9],
  ["a short absence is none", { seq: 4, at: 1 }, awayMs, null],
  ["nothing came", { seq: 9, at: 0 }, awayMs, null],
  ["never seen before", null, awayMs, null],
  ["seen before anything was said", { seq: 0, at: 0 }, awayMs, null],
])("[WEB-66] %s", (_, seen, now, seq) => {
  expect(awayFrom(seen, items, now)).toBe(seq);
});
