import { describe, expect, test } from "vitest";
import { nearest } from "../../base/nearest.ts";
import { wantsColors, age, clean, compareNaturally, count, parseDuration, table } from "./text.ts";

describe("words", () => {
  test.each([
    [0, "0s"],
    [-5_000, "0s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [5 * 60_000, "5m"],
    [3_599_999, "59m"],
    [3_600_000, "1h"],
    [2 * 86_400_000 + 1, "2d"],
  ])("[CLI-7] an age of %d ms is %s", (ms, text) => expect(age(ms)).toBe(text));

  test("[CLI-6] order is natural", () => {
    expect(["x-10", "x-2", "x-1", "x-2-2", "a-3"].toSorted(compareNaturally)).toEqual([
      "a-3",
      "x-1",
      "x-2",
      "x-2-2",
      "x-10",
    ]);
  });

  test("[CLI-8] control characters and direction marks are taken out", () => {
    expect(clean("a\u001b[31mb\u0007\r\nc\u202ed\u009b")).toBe("a [31mb c d");
  });

  test.each([
    ["2h", 7_200_000],
    ["1h30m", 5_400_000],
    ["3d", 259_200_000],
    ["0m", null],
    ["2", null],
    ["h", null],
    ["-1h", null],
  ])("a duration of %s is %s ms", (text, ms) => expect(parseDuration(text)).toBe(ms));

  test("counts and columns", () => {
    expect([count(0, "session"), count(1, "session"), count(2, "session")]).toEqual([
      "0 sessions",
      "1 session",
      "2 sessions",
    ]);
    expect(
      table([
        ["a", "bb", "c"],
        ["aaa", "b", ""],
      ]),
    ).toEqual(["a    bb  c", "aaa  b"]);
  });

  test.each([
    ["inof", "info"],
    ["statsu", "status"],
    ["spwan", "spawn"],
    ["sess", "session"],
    ["zzzzz", null],
  ])("[CLI-3] the nearest of %s is %s", (word, near) => {
    expect(nearest(word, ["info", "status", "spawn", "session", "stop"])).toBe(near);
  });

  test("[CLI-9] colors only on a terminal, and not with NO_COLOR", () => {
    expect(wantsColors({}, true)).toBe(true);
    expect(wantsColors({}, false)).toBe(false);
    expect(wantsColors({ NO_COLOR: "1" }, true)).toBe(false);
    expect(wantsColors({ NO_COLOR: "" }, true)).toBe(true);
    expect(wantsColors({ TERM: "dumb" }, true)).toBe(false);
  });
});
