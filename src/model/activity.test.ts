import { describe, expect, test } from "vitest";
import type { Activity } from "./session.ts";
import { isStuck, mergeActivity, type Hint } from "./activity.ts";

const told = (activity: Activity, at = 0): Hint => ({ activity, source: "hook", at });
const shown = (activity: Activity, at = 1_000): Hint => ({ activity, source: "screen", at });

describe("[ACT-1] the agent's own word first, the screen second, else unknown", () => {
  test.each([
    ["nothing", null, null, null],
    ["only the screen", null, shown("idle"), "idle by screen"],
    ["only a hook", told("working"), null, "working by hook"],
    ["both agree", told("idle"), shown("idle"), "idle by hook"],
    ["hook idle, screen working", told("idle"), shown("working"), "idle by hook"],
    ["hook working, screen idle just after", told("working"), shown("idle", 9_999), "working by hook"],
    ["hook working and never ended, as after Escape", told("working"), shown("idle", 10_000), "idle by screen"],
    [
      "hook asks, screen idle: a title may show both alike",
      told("needs_input"),
      shown("idle", 60_000),
      "needs_input by hook",
    ],
    ["screen asks: no hook tells of a start-up dialog", told("idle"), shown("needs_input"), "needs_input by screen"],
    ["screen asked before the hook went on", told("working", 2_000), shown("needs_input", 1_000), "working by hook"],
  ])("%s", (_title, told, shown, answer) => {
    const merged = mergeActivity({ told, shown });
    expect(merged === null ? null : `${merged.activity} by ${merged.source}`).toBe(answer);
  });

  test("the reason is passed on", () => {
    expect(mergeActivity({ told: { ...told("needs_input"), reason: "permission" }, shown: null })?.reason).toBe(
      "permission",
    );
    expect(mergeActivity({ told: told("idle"), shown: null })?.reason).toBeNull();
  });
});

test("[ACT-2] only work in silence for longer than the limit is stuck", () => {
  expect(isStuck("working", 0, 1_001, 1_000)).toBe(true);
  expect(isStuck("working", 0, 1_000, 1_000)).toBe(false);
  expect(isStuck("idle", 0, 9_999, 1_000)).toBe(false);
  expect(isStuck("needs_input", 0, 9_999, 1_000)).toBe(false);
  expect(isStuck(null, 0, 9_999, 1_000)).toBe(false);
});
