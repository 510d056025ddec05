import { describe, expect, test } from "vitest";
import type { Activity } from "../contract/ids.ts";
import { activityOf, idleHeldMs, matchRules, matchScreen } from "./activity.ts";

const hook = (activity: Activity, at: number): { activity: Activity; at: number; reason: string } => ({
  activity,
  at,
  reason: "Some",
});
const title = (
  activity: Activity,
  since: number,
): { activity: Activity; where: "title"; reason: null; since: number } => ({
  activity,
  where: "title",
  reason: null,
  since,
});

test.each([
  ["nothing says anything", null, null, null],
  ["only the screen", null, title("working", 5), "working"],
  ["only a hook", hook("idle", 5), null, "idle"],
  ["a hook before the screen", hook("idle", 5), title("working", 9), "idle"],
  ["a question on the screen that is newer than the hook", hook("working", 5), title("needs_input", 9), "needs_input"],
  ["a question that a hook has already closed", hook("working", 9), title("needs_input", 5), "working"],
  ["an idle screen never closes a question", hook("needs_input", 5), title("idle", 90_000), "needs_input"],
  ["work that began after the question", hook("needs_input", 5), title("working", 9), "working"],
  ["work shown from before the question", hook("needs_input", 9), title("working", 5), "needs_input"],
] as const)("[TERMINAL-19] activity: %s", (_, byHook, byScreen, expected) => {
  expect(activityOf(byHook, byScreen, 10)?.activity ?? null).toBe(expected);
});

test("[TERMINAL-19] an interrupted turn, for which agents have no hook, ends once the screen has shown idle for a while", () => {
  const at = (now: number): string | undefined => activityOf(hook("working", 100), title("idle", 200), now)?.activity;
  expect(at(200 + idleHeldMs - 1)).toBe("working");
  expect(at(200 + idleHeldMs)).toBe("idle");
});

test("[TERMINAL-19] the first rule that matches wins, titles and screens in one order", () => {
  const rules = [
    { where: "screen", pattern: /Allow\?/g, activity: "needs_input" },
    { where: "title", pattern: /busy/, activity: "working" },
    { where: "screen", pattern: /\$ $/, activity: "idle" },
  ] as const;
  expect(matchRules(rules, "busy", matchScreen(rules, "Allow?"))?.activity).toBe("needs_input");
  expect(matchRules(rules, "busy", matchScreen(rules, "$ "))?.activity).toBe("working");
  expect(matchRules(rules, "", matchScreen(rules, "$ "))?.activity).toBe("idle");
  expect(matchRules(rules, "", matchScreen(rules, ""))).toBeNull();
});

describe("[DECIDE-19] the agent's own word first, the screen second, else unknown", () => {
  const screen = (activity: Activity, since = 1_000) => ({ activity, where: "screen" as const, reason: null, since });
  test.each([
    ["nothing", null, null, 0, null],
    ["only the screen", null, screen("idle"), 0, "idle by screen"],
    ["only a hook", hook("working", 0), null, 0, "working by hook"],
    ["both agree", hook("idle", 0), screen("idle"), 0, "idle by hook"],
    ["hook idle, screen working", hook("idle", 0), screen("working"), 0, "idle by hook"],
    ["hook working, screen idle just after", hook("working", 0), screen("idle"), 2_999, "working by hook"],
    ["hook working and never ended, as after Escape", hook("working", 0), screen("idle"), 3_000, "idle by screen"],
    [
      "hook asks, screen idle: a title may show both alike",
      hook("needs_input", 0),
      screen("idle"),
      60_000,
      "needs_input by hook",
    ],
    [
      "screen asks: no hook tells of a start-up dialog",
      hook("idle", 0),
      screen("needs_input"),
      0,
      "needs_input by screen",
    ],
    ["screen asked before the hook went on", hook("working", 2_000), screen("needs_input"), 0, "working by hook"],
  ] as const)("%s", (_title, byHook, byScreen, now, expected) => {
    const seen = activityOf(byHook, byScreen, now);
    expect(seen === null ? null : `${seen.activity} by ${seen.source}`).toBe(expected);
  });

  test("the reason is passed on", () => {
    expect(activityOf({ ...hook("needs_input", 0), reason: "permission" }, null, 0)?.reason).toBe("permission");
    expect(activityOf(null, screen("idle"), 0)?.reason).toBeNull();
  });
});
