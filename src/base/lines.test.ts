import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isDeeperThan } from "./lines.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("[TEXT-3] nesting is counted as a parser would, brackets in strings aside", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, limit) => {
      expect(isDeeperThan(JSON.stringify(value), limit)).toBe(depthOf(value) > limit);
    }),
  );
  expect(isDeeperThan(JSON.stringify({ a: String.raw`[[[[\"[[[` }), 2)).toBe(false);
});

test("[TEXT-3] a line 200,000 deep is found without overflowing", () => {
  expect(isDeeperThan(`${"[".repeat(200_000)}${"]".repeat(200_000)}`, 500)).toBe(true);
  expect(isDeeperThan(`${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`, 500)).toBe(true);
});
