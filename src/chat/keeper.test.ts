import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("[CHAT-1] the keeper stays small, so that it rarely has to be replaced", () => {
  const text = readFileSync(new URL("keeper.sh", import.meta.url), "utf8");
  const lines = text.split("\n");
  expect(lines.length - 1).toBeLessThanOrEqual(90);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
  // A shell reads its script in blocks of this size: all of it is in memory before the agent starts.
  expect(text.length).toBeLessThan(8192);
});
