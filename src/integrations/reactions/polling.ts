/** Which sessions a tracker is asked about, and how soon again. Pure. */
import type { SessionState } from "../../model/session.ts";
import { sortChecks } from "../../model/pull-requests.ts";

/** Checks and reviews move within minutes; a list that is half a minute old is current to a person. */
export const pendingPollMs = 30_000;
/** When nothing is on its way a tracker's limit is better kept for later. */
export const quietPollMs = 120_000;
/** What was put away is asked about for `cleanup` alone, which asks by itself; this keeps the lists from being wrong for long. */
export const archivedPollMs = 10 * 60_000;
/** So long after an agent's last sign of life it may just have pushed something. */
const activeMs = 5 * 60_000;

export function isTracked(session: SessionState): boolean {
  const { want } = session.intent;
  if (session.role !== "worker" || session.workspace.at !== "ready") return false;
  // A merge is for ever: of one that was put away there is nothing more to learn then.
  if (want === "archived") return session.pullRequest?.state !== "merged";
  return want === "running" || want === "stopped" || want === "snoozed";
}

/** @param polledAt when the tracker last said something of it; null if never. */
export function isDue(session: SessionState, polledAt: number | null, now: number): boolean {
  if (!isTracked(session)) return false;
  return session.intent.want !== "archived" || polledAt === null || now - polledAt >= archivedPollMs;
}

/** Null when there is nothing to ask about. */
export function pollDelay(sessions: readonly SessionState[], now: number): number | null {
  const tracked = sessions.filter(isTracked);
  if (tracked.length === 0) return null;
  const wanted = tracked.filter(({ intent }) => intent.want !== "archived");
  if (wanted.length === 0) return archivedPollMs;
  return wanted.some((session) => isPending(session, now)) ? pendingPollMs : quietPollMs;
}

function isPending(session: SessionState, now: number): boolean {
  const open = (session.pullRequests ?? []).filter(({ facts, lost }) => lost === null && facts.state === "open");
  if (open.some(({ facts }) => sortChecks(facts.checks).pending.length > 0 || facts.conflict === null)) return true;
  return session.intent.want === "running" && now - session.lastActivityAt < activeMs;
}

/** Whether anything could be done by itself for this session: of one that was put aside only its pull requests are heard. */
export function mayReact({ intent, pullRequests = [], untold = [] }: SessionState): boolean {
  if (intent.want === "killed" || intent.want === "deleted") return false;
  return intent.want === "running" || pullRequests.length > 0 || untold.length > 0;
}
