import { expect, test } from "vitest";
import { haltLimitMs } from "./halt.ts";

test("[SESSION-39] each further session makes the limit of a halt longer by the same time", () => {
  const share = haltLimitMs(1) - haltLimitMs(0);
  expect(share).toBeGreaterThan(0);
  expect(haltLimitMs(61) - haltLimitMs(60)).toBe(share);
});
