/**
 * What the agent is doing, from its own word (hooks) and what it shows (title, screen). Hooks come first; the screen
 * corrects them only where a hook is known to be missing: no agent has one for an interrupted turn or an answered
 * question. When in doubt a question stays open, because it must never be typed into.
 */
import type { ScreenRule } from "../ports/agents.ts";
import type { Activity } from "../contract/ids.ts";
import { readFileSync } from "node:fs";
import { attempt } from "../base/attempt.ts";
import { listProcesses } from "../base/pid.ts";

const msPerTick = 10;

/** CPU time in milliseconds of everything that runs in the terminal of this process. Zero where that cannot be seen. */
export function cpuTimeOf(leader: number): number {
  if (process.platform !== "linux") return 0;
  const members = listProcesses().filter(({ session }) => session === leader);
  return members.reduce((sum, { pid }) => sum + ticksOf(pid) * msPerTick, 0);
}

function ticksOf(pid: number): number {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"), "");
  const fields = text.replace(/^.*\) /s, "").split(" ");
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
}

export interface HookActivity {
  activity: Activity;
  at: number;
  reason: string;
}

export interface ShownActivity {
  activity: Activity;
  where: ScreenRule["where"];
  reason: string | null;
  /** Since when it shows the same. */
  since: number;
}

export interface ActivitySeen {
  activity: Activity;
  source: string;
  since: number;
  reason: string | null;
}

/** A screen that shows idle this long after the last hook is believed: the turn was interrupted. */
export const idleHeldMs = 2000;

export function activityOf(hook: HookActivity | null, screen: ShownActivity | null, now: number): ActivitySeen | null {
  const byHook = hook && { activity: hook.activity, source: "hook", since: hook.at, reason: hook.reason };
  const byScreen = screen && {
    activity: screen.activity,
    source: screen.where,
    since: screen.since,
    reason: screen.reason,
  };
  if (hook === null || screen === null) return byHook ?? byScreen;
  if (screen.activity === hook.activity) return byHook;
  const newer = screen.since > hook.at;
  if (screen.activity === "needs_input") return newer ? byScreen : byHook;
  if (hook.activity === "needs_input") return screen.activity === "working" && newer ? byScreen : byHook;
  if (hook.activity === "working") return now - Math.max(hook.at, screen.since) >= idleHeldMs ? byScreen : byHook;
  return byHook;
}

/** The first rule that matches; `onScreen` holds the indices of the screen rules that the latest capture matched. */
export function matchRules(
  rules: readonly ScreenRule[],
  title: string,
  onScreen: ReadonlySet<number>,
): Omit<ShownActivity, "since"> | null {
  const found = rules.find((rule, index) => (rule.where === "title" ? matches(rule, title) : onScreen.has(index)));
  if (found === undefined) return null;
  return { activity: found.activity, where: found.where, reason: found.reason ?? null };
}

/** Indices of the screen rules that a captured screen matches. */
export function matchScreen(rules: readonly ScreenRule[], screen: string): Set<number> {
  return new Set(rules.flatMap((rule, index) => (rule.where === "screen" && matches(rule, screen) ? [index] : [])));
}

// `search` looks from the start every time, also where a pattern has the g flag.
const matches = (rule: ScreenRule, text: string): boolean => text.search(rule.pattern) >= 0;
