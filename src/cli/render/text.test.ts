import { describe, expect, test } from "vitest";
import { nearest } from "../../base/nearest.ts";
import { wantsColors, clean, count, table } from "./text.ts";

describe("words", () => {
  test("[CLI-8] control characters and direction marks are taken out", () => {
    expect(clean("a\u001b[31mb\u0007\r\nc\u202ed\u009b")).toBe("a [31mb c d");
  });

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
