/** The conditions that reactions respond to, each with a key made from its content. */
import { reactionActor, type ReactionName, type ReactionAction } from "../../contract/reaction.ts";
import { type SessionState } from "../../model/session.ts";
import type { SeenPullRequest, PullRequestFacts, ReviewThread } from "../../contract/tracker.ts";
import { asSentence, contentKey, sortedNaturally } from "../../model/text.ts";
import { formatDuration } from "../../model/duration.ts";
import { isApprovedAndGreen, sortChecks, staleAfterMs } from "../../model/pull-requests.ts";
import { failedTurn } from "../../model/status.ts";
import type { ReactionFacts } from "./plan.ts";
import { pullRequestStatuses, type SessionId, type Status } from "../../contract/ids.ts";
import { orchestratorOf } from "../../model/roles.ts";

const finished: ReadonlySet<Status> = new Set<Status>(["done", "merged"]);
const over: ReadonlySet<Status> = new Set<Status>(["done", "merged", "exited", "killed", "archived"]);

/**
 * The session that reports that the project's workers have all finished, and the key of their set; null while some have
 * not. Messages go to the orchestrator if there is one; otherwise the worker that finished last reports it.
 */
export function allDone(
  sessions: readonly { session: SessionState; status: Status }[],
  action: ReactionAction,
): { session: SessionId; key: string } | null {
  const workers = sessions.filter(({ session }) => session.role === "worker");
  if (!workers.every(({ status }) => over.has(status))) return null;
  const done = workers.filter(({ status, session }) => finished.has(status) && session.intent.want !== "killed");
  const last = done.toSorted((a, b) => b.session.lastActivityAt - a.session.lastActivityAt)[0];
  if (last === undefined) return null;
  const ids = workers.map(({ session }) => session.id).toSorted();
  const all = sessions.map(({ session }) => session);
  const leader = action === "send-to-agent" ? orchestratorOf(all, last.session.project) : null;
  return { session: (leader ?? last.session).id, key: `all:${contentKey(ids.join("\n"))}` };
}

/** Some checks never finish; after this, failed ones no longer wait for them. */
export const pendingPatienceMs = 10 * 60_000;
/** Long enough for an agent that waits for a build it started. */
export const idleAfterMs = 15 * 60_000;

/** Older failures and exits are not reported. */
const newsMs = 60 * 60_000;

export interface Condition {
  key: string;
  /** A complete sentence for the user. */
  why: string;
  /** The same, addressed to the agent. */
  toAgent: string;
  pullRequest: PullRequestFacts | null;
  failedChecks: string[];
  /** Null if the host did not return them. */
  threads: ReviewThread[] | null;
}

export type Found =
  | { is: "known"; conditions: Condition[]; /** Whether the condition is proven not to apply. */ over: boolean }
  | { is: "ask"; pullRequest: PullRequestFacts }
  | { is: "unclear" };

export function conditionsOf(reaction: ReactionName, facts: ReactionFacts, now: number): Found {
  switch (reaction) {
    case "ci-failed":
      return ofPullRequests(facts, now, (one) => failedChecks(one, now));
    case "changes-requested":
      return changesRequested(facts, now);
    case "merge-conflict":
      return ofPullRequests(facts, now, conflict);
    case "approved-and-green":
      return ofPullRequests(facts, now, approved);
    case "agent-idle":
      return idle(facts, now);
    case "needs-input":
      return asking(facts);
    case "turn-failed":
      return failing(facts, now);
    case "exited":
      return ended(facts, now);
    case "all-done":
      return known(facts.allDone === null ? [] : [condition(facts.allDone, "All sessions have finished.")], false);
    default:
      return reaction satisfies never;
  }
}

function known(conditions: Condition[], over = conditions.length === 0): Found {
  return { is: "known", conditions, over };
}

function condition(key: string, why: string, more: Partial<Condition> = {}): Condition {
  return { key, why, toAgent: why, pullRequest: null, failedChecks: [], threads: null, ...more };
}

type Judged = Condition | "over" | "unclear";

/** Recorded pull requests count only while the tracker confirms them: after a weekend everything may be fixed. */
function ofPullRequests(facts: ReactionFacts, now: number, judge: (one: SeenPullRequest) => Judged): Found {
  if (!isFresh(facts, now)) return { is: "unclear" };
  const judged = openOf(facts).map(judge);
  const conditions = judged.filter((one): one is Condition => typeof one === "object");
  return known(
    conditions,
    judged.every((one) => one === "over"),
  );
}

function isFresh({ polledAt }: ReactionFacts, now: number): boolean {
  return polledAt !== null && now - polledAt < staleAfterMs;
}

function openOf({ session }: ReactionFacts): SeenPullRequest[] {
  return (session.pullRequests ?? []).filter(({ facts, lost }) => lost === null && facts.state === "open");
}

function failedChecks({ facts, seenAt }: SeenPullRequest, now: number): Judged {
  const { failed, pending } = sortChecks(facts.checks);
  if (failed.length === 0) return pending.length === 0 ? "over" : "unclear";
  // One message for all failed checks.
  if (pending.length > 0 && now - seenAt < pendingPatienceMs) return "unclear";
  const names = failed.map(({ name }) => name).toSorted();
  return condition(
    `ci:${facts.number}:${facts.headSha.slice(0, 12)}:${contentKey(names.join("\n"))}`,
    `Checks of pull request #${facts.number} failed on ${facts.headSha.slice(0, 8)}: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""}.`,
    { pullRequest: facts, failedChecks: names },
  );
}

function changesRequested(facts: ReactionFacts, now: number): Found {
  const asks = openOf(facts).find(
    (one) => one.facts.review === "changes_requested" && isFresh(facts, now) && !facts.threads.has(one.facts.url),
  );
  if (asks !== undefined) return { is: "ask", pullRequest: asks.facts };
  return ofPullRequests(facts, now, ({ facts: of }) => {
    if (of.review !== "changes_requested") return "over";
    const answer = facts.threads.get(of.url);
    // Without the threads the agent would not know what to change.
    if (answer === undefined || answer.is === "unknown") return "unclear";
    const open = answer.is === "known" ? answer.value.filter(({ resolved }) => !resolved) : [];
    const ids = open.map(({ id }) => id).toSorted();
    return condition(
      `review:${of.number}:${ids.length === 0 ? of.headSha.slice(0, 12) : contentKey(ids.join("\n"))}`,
      `A review of pull request #${of.number} asks for changes${ids.length === 0 ? "" : ` (${ids.length} open ${ids.length === 1 ? "thread" : "threads"})`}.`,
      { pullRequest: of, threads: answer.is === "known" ? open : null },
    );
  });
}

function conflict({ facts }: SeenPullRequest): Judged {
  if (facts.conflict === null) return "unclear";
  if (!facts.conflict) return "over";
  return ofHead("conflict", facts, `Pull request #${facts.number} has conflicts with ${facts.baseBranch}.`);
}

function approved({ facts }: SeenPullRequest): Judged {
  if (!isApprovedAndGreen(facts)) return "over";
  return ofHead("green", facts, `Pull request #${facts.number} is approved and its checks passed.`);
}

function ofHead(name: string, facts: PullRequestFacts, why: string): Condition {
  return condition(`${name}:${facts.number}:${facts.headSha.slice(0, 12)}`, why, { pullRequest: facts });
}

function idle(facts: ReactionFacts, now: number): Found {
  const { session, status } = facts;
  const hasPullRequest = (session.pullRequests ?? []).some(
    ({ facts: of, lost }) => lost === null && of.state !== "closed",
  );
  if (hasPullRequest || session.role !== "worker") return known([], true);
  const quiet = now - session.lastActivityAt;
  if (status !== "idle" || !session.prompted || quiet < idleAfterMs) return { is: "unclear" };
  const since = `been idle for ${formatDuration(quiet, 1)} without a pull request.`;
  return known([
    condition(`idle:${session.lastActivityAt}`, `The agent has ${since}`, { toAgent: `You have ${since}` }),
  ]);
}

function asking({ session, status, reason }: ReactionFacts): Found {
  if (status !== "needs_input") return known([]);
  const questions = session.permissions.map(({ requestId }) => requestId);
  // Observed but not recorded yet: the record is the key, and an earlier key would notify twice.
  if (questions.length === 0 && session.activity?.activity !== "needs_input") return { is: "unclear" };
  const key = questions.length > 0 ? contentKey(questions.join("\n")) : String(session.activity?.at ?? session.seq);
  const what = session.permissions[0]?.title;
  const why =
    what === undefined ? asSentence(reason ?? "The agent is waiting for an answer") : `The agent asks: ${what}`;
  return known([condition(`asks:${key}`, why)]);
}

/** The agent waits for a prompt. */
export const betweenTurns: ReadonlySet<Status> = new Set<Status>(["idle", ...pullRequestStatuses]);

function failing({ session, status, turnFailed = false }: ReactionFacts, now: number): Found {
  const failed = failedTurn(session);
  // An open turn may fail like the previous one: only its end proves anything.
  if (failed === null) return known([], betweenTurns.has(status));
  const at = session.turn.turn === "ended" ? session.turn.at : (session.cutTurn?.at ?? 0);
  // Not while the agent is down or restarting: that is reported instead.
  if (!turnFailed || now - at > newsMs) return { is: "unclear" };
  const why = asSentence(failed.why);
  return known([condition(failed.key, why, { toAgent: `Your last turn did not finish. ${why}` })]);
}

function ended({ session, status, reason, lostTogether }: ReactionFacts, now: number): Found {
  if (status === "unknown" || status === "starting") return { is: "unclear" };
  if ((status !== "exited" && status !== "failed") || (session.run.run !== "ended" && session.run.run !== "failed")) {
    // A restart by our own message proves nothing: an agent that exits after each turn would be restarted forever.
    return known([], status === "done" || session.intent.by !== reactionActor);
  }
  // A starting daemon does not report old exits.
  if (now - session.run.at > newsMs || lostTogether === "announced-by-another") return { is: "unclear" };
  const why = whyEnded(status, reason ?? null, lostTogether ?? []);
  return known([condition(`end:${session.run.seq}`, why, { toAgent: "Your process exited and was restarted." })]);
}

const namedSessions = 5;

function whyEnded(status: Status, reason: string | null, lost: readonly string[]): string {
  if (status === "exited") return "The agent exited on its own.";
  if (lost.length < 2) return asSentence(`The agent is down: ${reason ?? "it fails to start or keeps crashing"}`);
  const names = lost.slice(0, namedSessions).join(", ");
  const more = lost.length > namedSessions ? ` and ${lost.length - namedSessions} more` : "";
  return `${lost.length} sessions were lost with the machine or its tmux server and not restarted: ${names}${more}. Restore them: holdfast session restore --all`;
}

/**
 * `sessions` are the project's. The session whose end was recorded last announces all of them; while the end of another
 * one is still being determined, none does, because that one will.
 */
export function lostTogether(
  session: SessionState,
  sessions: readonly { session: SessionState; status: Status }[],
): NonNullable<ReactionFacts["lostTogether"]> {
  if (!isLost(session)) return [];
  if (sessions.some((one) => one.status === "unknown" && one.session.kind === session.kind)) {
    return "announced-by-another";
  }
  const lost = sessions.filter((one) => one.status === "failed" && isLost(one.session)).map((one) => one.session);
  const endOf = ({ run }: SessionState): number => (run.run === "ended" ? run.at : 0);
  const last = lost.toSorted((a, b) => endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1))[0];
  return last === undefined || last.id === session.id
    ? sortedNaturally(
        lost.map(({ id }) => id),
        (id) => id,
      )
    : "announced-by-another";
}

function isLost({ run }: SessionState): boolean {
  return run.run === "ended" && run.how === "lost";
}
