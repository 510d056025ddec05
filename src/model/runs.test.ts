import { expect, test } from "vitest";
import { recentCrashes } from "./runs.ts";

test("[CORE-222] crashes are recent within a minute of the latest, and not where the clock went back behind them", () => {
  expect(recentCrashes({ crashes: [] })).toBe(0);
  expect(recentCrashes({ crashes: [1_000, 50_000, 61_000] })).toBe(2);
  const hour = 3_600_000;
  expect(recentCrashes({ crashes: [hour, hour + 1_000, 5_000] })).toBe(1);
  expect(recentCrashes({ crashes: [hour, 5_000, 6_000, 7_000] })).toBe(3);
});
