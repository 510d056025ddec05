import { expect, test } from "vitest";
import { trustDiff } from "./trust-diff.ts";

const parts = (text: string) => text.split(" ").map((word) => ({ key: "k", value: word }));
const diff = (before: string, after: string): string =>
  trustDiff(parts(before), parts(after))
    .map(({ change, value }) => `${{ same: "", added: "+", removed: "-" }[change]}${value}`)
    .join(" ");

test.each([
  ["a b c", "a b c", "a b c"],
  ["a b c", "a x c", "a -b +x c"],
  ["a b", "z a b", "+z a b"],
  ["a b a", "a", "a -b -a"],
  ["a b c d", "a c b d", "a -b c +b d"],
  ["a a", "a a a", "a a +a"],
])("[TRUST-4] %s, then %s is shown as %s", (before, after, shown) => {
  expect(diff(before, after)).toBe(shown);
});

test("[TRUST-4] a hostile number of settings is compared in bounded time, and none is left out", () => {
  const many = (start: string) => Array.from({ length: 5_000 }, (_, at) => ({ key: "k", value: `${start}${at}` }));
  const changes = trustDiff(many("a"), many("b"));
  expect(changes.filter(({ change }) => change === "added")).toHaveLength(5_000);
  expect(changes.filter(({ change }) => change === "removed")).toHaveLength(5_000);
});
