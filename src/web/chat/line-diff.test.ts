import { expect, test } from "vitest";
import { diffLines, hunksOf } from "./line-diff.ts";

const signs = (before: string, after: string) => diffLines(before, after).map(({ sign, text }) => sign + text);

test("[WEB-50] a diff marks unchanged, removed and added lines", () => {
  expect(signs("a\nb\nc\n", "a\nx\nc\nd\n")).toEqual([" a", "-b", "+x", " c", "+d"]);
  expect(signs("", "one\ntwo\n")).toEqual(["+one", "+two"]);
  expect(signs("one\n", "")).toEqual(["-one"]);
  expect(signs("same\n", "same\n")).toEqual([" same"]);
});

test("[WEB-50] only changes are shown, with context; texts too large to compare are shown in full", () => {
  const many = Array.from({ length: 40 }, (_, n) => `line ${n}`);
  const changed = many.with(5, "five").with(30, "thirty");
  const hunks = hunksOf(diffLines(many.join("\n"), changed.join("\n")));
  expect(hunks.map(({ lines, skipped }) => [lines.length, skipped])).toEqual([
    [8, 2],
    [8, 18],
  ]);
  const large = Array.from({ length: 1_500 }, (_, n) => `${n}`);
  const lines = diffLines(large.join("\n"), large.map((line) => `${line}!`).join("\n"));
  expect(lines).toHaveLength(3_000);
});
