/** What a pull request means for its session's status, and for the marks beside it. Pure: facts and their age. */
import type { SessionState, Status } from "./session.ts";
import { primaryPullRequest } from "./reduce.ts";
import type { CheckFacts, PullRequestFacts, SeenPullRequest } from "../contract/tracker.ts";

/** Longer than any interval of the poller: what nobody confirmed for so long is told with its age. */
export const staleAfterMs = 10 * 60_000;
/** Names in one sentence. */
const namedChecks = 3;

export interface PullRequestStatus {
  status: Status | null;
  reason: string | null;
}

/** @param confirmedAt when the tracker last said so; null where this daemon has not heard of it yet. */
export function pullRequestStatus(session: SessionState, now: number, confirmedAt: number | null): PullRequestStatus {
  const primary = primaryPullRequest(session.pullRequests);
  if (primary === null) return { status: null, reason: null };
  const { status, reason } = ofFacts(primary.facts);
  // What is merged stays merged, however long ago that was heard.
  if (status === "merged") return { status, reason };
  const age = now - Math.max(primary.seenAt, confirmedAt ?? 0);
  const old = age > staleAfterMs ? `as of ${inWords(age)} ago; its tracker was not heard since` : null;
  return { status, reason: [reason, old].filter((part) => part !== null).join("; ") || null };
}

function ofFacts(facts: PullRequestFacts): PullRequestStatus {
  if (facts.state === "merged") return { status: "merged", reason: null };
  if (facts.state === "closed") return { status: null, reason: "its pull request was closed without being merged" };
  const { failed, pending } = sortChecks(facts.checks);
  const conflict = facts.conflict === true ? `it does not merge into ${facts.baseBranch}` : null;
  if (failed.length > 0) return { status: "ci_failed", reason: `failed: ${namesOf(failed)}` };
  if (facts.review === "changes_requested") return { status: "changes_requested", reason: conflict };
  if (facts.draft) return { status: "pr_open", reason: conflict ?? "a draft" };
  const waits = pending.length === 0 ? null : `waiting for ${namesOf(pending)}`;
  if (isMergeable(facts)) return { status: "mergeable", reason: null };
  if (facts.review === "approved") return { status: "approved", reason: conflict ?? waits };
  if (facts.review === "required") return { status: "review_pending", reason: conflict ?? waits };
  return { status: "pr_open", reason: conflict ?? waits };
}

/** Nothing is left to wait for, by the host's own word and by ours: one of the two may be late. */
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

/** More than mergeable: somebody looked at it. */
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

/** Whether what is now said of a pull request differs from what is on record. When it was touched says nothing. */
export function differs(before: SeenPullRequest | undefined, now: PullRequestFacts): boolean {
  if (before === undefined || before.lost !== null) return true;
  const { facts } = before;
  // Silence about a conflict is no news: hosts forget it after each push and find out again.
  const conflict = now.conflict ?? facts.conflict;
  const mergeable = now.mergeable ?? facts.mergeable;
  return content({ ...now, conflict, mergeable }) !== content(facts);
}

function content(facts: PullRequestFacts): string {
  const { updatedAt: _, checks, ...rest } = facts;
  const sorted = checks.map(({ name, state }) => `${state} ${name}`).toSorted();
  return JSON.stringify([Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1)), sorted]);
}

const minute = 60_000;

export function inWords(ms: number): string {
  if (ms < 90 * minute) return `${Math.round(ms / minute)} min`;
  const hours = Math.round(ms / (60 * minute));
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}
