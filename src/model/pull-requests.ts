/** Pull requests: their part of the session reducer, and what they mean for the session's status. */
import type { SessionState } from "./session.ts";
import type { Status } from "../contract/ids.ts";
import { formatDuration } from "./duration.ts";
import type { TrackerEvent } from "../contract/event.ts";
import { rememberedKeys } from "../contract/reaction.ts";
import {
  maxChecks,
  type CheckFacts,
  type CheckState,
  type PullRequestFacts,
  type SeenPullRequest,
} from "../contract/tracker.ts";

/** Longer than any poll interval: facts that were not confirmed for so long are shown with their age. */
export const staleAfterMs = 10 * 60_000;
/** Check names listed in one sentence. */
const namedChecks = 3;

export interface PullRequestStatus {
  status: Status | null;
  reason: string | null;
}

/** @param confirmedAt when a poll last confirmed it; null if this daemon has not polled it yet. */
export function pullRequestStatus(session: SessionState, now: number, confirmedAt: number | null): PullRequestStatus {
  const primary = primaryPullRequest(session.pullRequests);
  if (primary === null) return { status: null, reason: null };
  const { status, reason } = ofFacts(primary.facts);
  // Merged is final, however old the poll is.
  if (status === "merged") return { status, reason };
  const age = now - Math.max(primary.seenAt, confirmedAt ?? 0);
  const old = age > staleAfterMs ? `as of ${formatDuration(age, 1)} ago; tracker unreachable since then` : null;
  return { status, reason: [reason, old].filter((part) => part !== null).join("; ") || null };
}

function ofFacts(facts: PullRequestFacts): PullRequestStatus {
  if (facts.state === "merged") return { status: "merged", reason: null };
  if (facts.state === "closed") return { status: null, reason: "its pull request was closed without being merged" };
  const { failed, pending } = sortChecks(facts.checks);
  const conflict = facts.conflict === true ? `conflicts with ${facts.baseBranch}` : null;
  if (failed.length > 0) return { status: "ci_failed", reason: `failed: ${namesOf(failed)}` };
  if (facts.review === "changes_requested") return { status: "changes_requested", reason: conflict };
  if (facts.draft) return { status: "pr_open", reason: conflict ?? "a draft" };
  const waits = pending.length === 0 ? null : `waiting for ${namesOf(pending)}`;
  if (isMergeable(facts)) return { status: "mergeable", reason: null };
  if (facts.review === "approved") return { status: "approved", reason: conflict ?? waits };
  if (facts.review === "required") return { status: "review_pending", reason: conflict ?? waits };
  return { status: "pr_open", reason: conflict ?? waits };
}

/** Nothing is pending, by the host's status and by ours: either may lag behind. */
function isMergeable(facts: PullRequestFacts): boolean {
  const { failed, pending } = sortChecks(facts.checks);
  return (
    facts.state === "open" &&
    !facts.draft &&
    facts.mergeable === true &&
    facts.conflict !== true &&
    failed.length + pending.length === 0 &&
    (facts.review === "approved" || facts.review === "none")
  );
}

/** More than mergeable: it was reviewed. */
export function isApprovedAndGreen(facts: PullRequestFacts): boolean {
  return facts.review === "approved" && isMergeable(facts);
}

export interface SortedChecks {
  failed: CheckFacts[];
  pending: CheckFacts[];
  passed: CheckFacts[];
}

export function sortChecks(checks: readonly CheckFacts[]): SortedChecks {
  const of = (state: CheckFacts["state"]): CheckFacts[] => checks.filter((check) => check.state === state);
  return { failed: of("failed"), pending: of("pending"), passed: of("passed") };
}

function namesOf(checks: readonly CheckFacts[]): string {
  const names = checks.slice(0, namedChecks).map(({ name }) => name);
  const more = checks.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Whether a polled pull request differs from the recorded one. `updatedAt` does not count. */
export function differs(before: SeenPullRequest | undefined, now: PullRequestFacts): boolean {
  if (before === undefined || before.lost !== null) return true;
  const { facts } = before;
  // An unknown conflict is not a change: hosts recompute it after each push.
  const conflict = now.conflict ?? facts.conflict;
  const mergeable = now.mergeable ?? facts.mergeable;
  return content({ ...now, conflict, mergeable }) !== content(facts);
}

function content(facts: PullRequestFacts): string {
  const { updatedAt: _, checks, ...rest } = facts;
  const sorted = checks.map(({ name, state }) => `${state} ${name}`).toSorted();
  return JSON.stringify([Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1)), sorted]);
}

/** Whether another session claimed it. Only here is the text of earlier builds recognized. */
export function isTaken({ lost, takenBy }: SeenPullRequest): boolean {
  return lost !== null && (takenBy !== undefined || lost.startsWith("claimed by "));
}

/** Tracker events are not the session's own activity, so they do not change `lastActivityAt`. */
export function applyTrackerEvent(state: SessionState, event: TrackerEvent & { at: number }): Partial<SessionState> {
  switch (event.type) {
    case "pull-request.seen":
      return withPullRequests(seen(state.pullRequests ?? [], event));
    case "pull-request.lost":
      return withPullRequests(
        (state.pullRequests ?? []).map((one) =>
          one.facts.url === event.url ? { ...one, lost: event.reason, takenBy: event.takenBy } : one,
        ),
      );
    case "pull-request.claimed":
      return withPullRequests(
        (state.pullRequests ?? []).map((one) =>
          one.facts.url === event.url ? { ...one, claimed: true, claimedBy: event.by, lost: null } : one,
        ),
      );
    case "issue.seen":
      return { issueSeen: { ...event.issue, seenAt: event.at } };
    case "reaction.fired":
    case "reaction.escalated": {
      const before = state.reactions?.[event.reaction];
      const keys = (before?.keys ?? []).filter((key) => key !== event.key);
      const history = {
        keys: [...keys, event.key].slice(-rememberedKeys),
        // Notifying the user has no budget.
        attempts:
          event.type === "reaction.fired" && event.action !== "notify" ? event.attempt : (before?.attempts ?? 0),
        escalated: event.type === "reaction.escalated" || (before?.escalated ?? false),
        at: event.at,
      };
      return { reactions: { ...state.reactions, [event.reaction]: history } };
    }
    case "reaction.cleared": {
      const before = state.reactions?.[event.reaction];
      if (before === undefined) return {};
      // The keys stay: the same content does not trigger the reaction again.
      return { reactions: { ...state.reactions, [event.reaction]: { ...before, attempts: 0, escalated: false } } };
    }
    case "notification":
      return event.channels.length === 0 ? {} : { untold: [...(state.untold ?? []), event.id] };
    case "notification.sent":
      return { untold: (state.untold ?? []).filter((id) => id !== event.id) };
    default:
      event satisfies never;
      return {};
  }
}

function seen(
  known: SeenPullRequest[],
  { pullRequest: facts, was, at }: Extract<TrackerEvent, { type: "pull-request.seen" }> & { at: number },
): SeenPullRequest[] {
  const checks = facts.checks
    .toSorted((a, b) => checkOrder.indexOf(a.state) - checkOrder.indexOf(b.state))
    .slice(0, maxChecks);
  const before = known.find((one) => one.facts.url === facts.url) ?? known.find((one) => one.facts.url === was);
  const now: SeenPullRequest = {
    facts: { ...facts, checks },
    seenAt: at,
    claimed: before?.claimed ?? false,
    ...(before?.claimedBy === undefined ? {} : { claimedBy: before.claimedBy }),
    lost: null,
  };
  return before === undefined ? [...known, now] : known.map((one) => (one === before ? now : one));
}

const checkOrder: readonly CheckState[] = ["failed", "pending", "passed", "skipped"];

function withPullRequests(pullRequests: SeenPullRequest[]): Partial<SessionState> {
  const primary = primaryPullRequest(pullRequests);
  return {
    pullRequests,
    pullRequest: primary === null ? null : { url: primary.facts.url, state: primary.facts.state },
  };
}

const stateOrder: readonly PullRequestFacts["state"][] = ["open", "merged", "closed"];

/** The pull request that determines the session's status. */
export function primaryPullRequest(pullRequests: readonly SeenPullRequest[] | undefined): SeenPullRequest | null {
  const [first] = (pullRequests ?? [])
    .filter(({ lost }) => lost === null)
    .toSorted(
      (a, b) =>
        stateOrder.indexOf(a.facts.state) - stateOrder.indexOf(b.facts.state) || b.facts.number - a.facts.number,
    );
  return first ?? null;
}
