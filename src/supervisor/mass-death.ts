/**
 * The mass-death breaker: if most sessions look dead at the same time, the observation is probably wrong. Without it one
 * wrong observation could end or double every session.
 */
import type { SessionFacts } from "../model/facts.ts";
import { isLive } from "../model/runs.ts";

/** Fewer simultaneous deaths than this can be a coincidence and cost little to fix. */
export const massDeathSessions = 5;
/** Long enough for a restarting server or a waking machine to respond properly again. */
export const recheckMs = 10_000;

export interface MassDeath {
  /** Until then nothing is concluded from an unproven death; in the past: this was the second observation, conclude. */
  recheckAt: number | null;
  /** True in the one pass that tripped it. */
  tripped: boolean;
}

/** @param previous `recheckAt` of the previous pass. */
export function massDeath(board: readonly SessionFacts[], now: number, previous: number | null): MassDeath {
  const expected = board.filter(({ session }) => session.intent.want === "running" && isLive(session.run));
  const suspects = expected.filter(looksDead).length;
  if (suspects < massDeathSessions || suspects * 2 <= expected.length) return { recheckAt: null, tripped: false };
  if (previous === null) return { recheckAt: now + recheckMs, tripped: true };
  // A clock that was set back must not stretch the wait.
  return { recheckAt: Math.min(previous, now + recheckMs), tripped: false };
}

/** Whether a session that should live looks dead, and nothing proves it. */
export function looksDead({ session, runtime, absence }: SessionFacts): boolean {
  if (!isLive(session.run) || absence !== null) return false;
  if (runtime.is === "absent") return true;
  if (runtime.is === "unknown" || runtime.value.launch !== session.run.launch) return false;
  return !runtime.value.agent.alive && runtime.value.agent.exit === null;
}

/** Whether a session that should live is gone with its tmux server, as all others of that server are. */
export function isLostWithServer({ session, absence }: SessionFacts): boolean {
  return session.intent.want === "running" && isLive(session.run) && absence === "no-server";
}
