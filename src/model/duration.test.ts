import { expect, test } from "vitest";
import { formatAge, formatDuration, parseDuration } from "./duration.ts";

test.each([
  [0, "0s"],
  [-5_000, "0s"],
  [59_999, "59s"],
  [60_000, "1m"],
  [5 * 60_000, "5m"],
  [3_599_999, "59m"],
  [3_600_000, "1h"],
  [2 * 86_400_000 + 1, "2d"],
])("[CLI-7] an age of %d ms is %s", (ms, text) => expect(formatAge(ms)).toBe(text));

test.each([
  ["2h", 7_200_000],
  ["1h30m", 5_400_000],
  ["3d", 259_200_000],
  ["0m", null],
  ["2", null],
  ["h", null],
  ["-1h", null],
])("a duration of %s is %s ms", (text, ms) => expect(parseDuration(text)).toBe(ms));

test.each([
  [340, "340 ms"],
  [3_240, "3.2 s"],
  [9_000, "9 s"],
  [59_999, "59 s"],
  [125_000, "2 min 5 s"],
  [120_000, "2 min"],
  [2 * 3_600_000 + 5 * 60_000, "2 h 5 min"],
  [76 * 3_600_000, "3 d 4 h"],
])("a duration of %d ms is written as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));
