import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { keeperText } from "./keeper.ts";

test("[KEEP-1] the script that is launched is the script that is read and checked", () => {
  expect(keeperText).toBe(readFileSync(new URL("keeper.sh", import.meta.url), "utf8"));
});

test("[KEEP-1] the keeper stays small: what it does not contain cannot force its replacement", () => {
  const lines = keeperText.split("\n");
  expect(lines.length - 1).toBeLessThanOrEqual(90);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
  // A shell reads its script in blocks of this size: all of it is in memory before the agent starts.
  expect(keeperText.length).toBeLessThan(8192);
});
