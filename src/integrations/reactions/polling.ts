/** Which sessions are polled, and how often. Pure. */
import type { SessionState } from "../../model/session.ts";
import { sortChecks } from "../../model/pull-requests.ts";

/** Checks and reviews change within minutes; half a minute is current enough. */
export const pendingPollMs = 30_000;
/** Saves the rate limit while nothing is pending. */
export const quietPollMs = 120_000;
/** Archived sessions only matter to `cleanup`, which polls on its own; this keeps lists from being wrong for long. */
export const archivedPollMs = 10 * 60_000;
/** An agent active this recently may just have pushed something. */
const activeMs = 5 * 60_000;

export function isTracked(session: SessionState): boolean {
  const { want } = session.intent;
  if (session.role !== "worker" || session.workspace.at !== "ready") return false;
  // A merge is final: there is nothing more to learn about an archived session.
  if (want === "archived") return session.pullRequest?.state !== "merged";
  return want === "running" || want === "stopped" || want === "snoozed";
}

/** @param polledAt when the tracker last confirmed its facts; null if never. */
export function isDue(session: SessionState, polledAt: number | null, now: number): boolean {
  if (!isTracked(session)) return false;
  return session.intent.want !== "archived" || polledAt === null || now - polledAt >= archivedPollMs;
}

/** Null if there is nothing to poll. */
export function pollDelay(sessions: readonly SessionState[], now: number): number | null {
  const tracked = sessions.filter(isTracked);
  if (tracked.length === 0) return null;
  const current = tracked.filter(({ intent }) => intent.want !== "archived");
  if (current.length === 0) return archivedPollMs;
  return current.some((session) => isPending(session, now)) ? pendingPollMs : quietPollMs;
}

function isPending(session: SessionState, now: number): boolean {
  const open = (session.pullRequests ?? []).filter(({ facts, lost }) => lost === null && facts.state === "open");
  if (open.some(({ facts }) => sortChecks(facts.checks).pending.length > 0 || facts.conflict === null)) return true;
  return session.intent.want === "running" && now - session.lastActivityAt < activeMs;
}

/** Whether this session can trigger a reaction: unless it should run, only its pull requests can. */
export function mayReact({ intent, pullRequests = [], untold = [] }: SessionState): boolean {
  if (intent.want === "killed" || intent.want === "deleted") return false;
  return intent.want === "running" || pullRequests.length > 0 || untold.length > 0;
}
