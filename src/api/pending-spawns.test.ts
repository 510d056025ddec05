import { expect, test } from "vitest";
import { asSessionId } from "../contract/ids.ts";
import { PendingSpawns } from "./spawn-checks.ts";

test("[SESSION-11] a session is found by its request's name for as long as somebody waits", () => {
  const pending = new PendingSpawns();
  {
    using _first = pending.await("12-1", asSessionId("ma-1"));
    using _nameless = pending.await(undefined, asSessionId("ma-2"));
    expect([pending.awaited("12-1"), pending.awaited("12-2"), pending.awaited("")]).toEqual(["ma-1", null, null]);
  }
  expect(pending.awaited("12-1")).toBeNull();
});
