/** What an agent is doing: one in a terminal by the hints there are, `null` rather than a guess; a chat's by its record. */
import type { Activity, SessionState } from "./session.ts";

export function chatActivity({ permissions, turn }: Pick<SessionState, "permissions" | "turn">): Activity {
  if (permissions.length > 0) return "needs_input";
  return turn.turn === "open" ? "working" : "idle";
}

export interface Hint {
  activity: Activity;
  /** What said so: `hook:Stop`, `transcript`, `title`, `screen` … */
  source: string;
  /** When it was said (hook) or last seen (screen). */
  at: number;
  reason?: string | null;
}

export interface Hints {
  /** The latest word of the agent itself: its hooks, its status file, its transcript. */
  told: Hint | null;
  /** What the rendered screen or the pane's title shows now. */
  shown: Hint | null;
}

/**
 * A hook that says `working` and is older than this while the screen shows otherwise was never followed by its end:
 * Claude Code runs no hook when a turn is interrupted with Escape.
 */
export const staleWordMs = 10_000;

/**
 * The agent's own word first, the screen second, with two exceptions that the screen decides: an open question that is
 * visible (a start-up dialog has no hook, and typing into it would answer it), and a `working` that was never ended.
 */
export function mergeActivity({ told, shown }: Hints): Required<Hint> | null {
  const chosen = choose(told, shown);
  return chosen === null ? null : { ...chosen, reason: chosen.reason ?? null };
}

function choose(told: Hint | null, shown: Hint | null): Hint | null {
  if (told === null || shown === null) return told ?? shown;
  if (shown.activity === "needs_input" && shown.at >= told.at) return shown;
  if (told.activity === "working" && shown.activity === "idle" && shown.at - told.at >= staleWordMs) return shown;
  return told;
}

/** A hint for the person, nothing is done about it: working, and nothing happened for longer than the limit. */
export function isStuck(activity: Activity | null, lastActivityAt: number, now: number, stuckAfterMs: number): boolean {
  return activity === "working" && now - lastActivityAt > stuckAfterMs;
}
