/** Whether what a reaction is about is so, and what exactly: by content, so that the same thing has the same key. */
import { reactionActor, type ReactionName, type ReactionAction } from "../../contract/reaction.ts";
import { pullRequestStatuses, type Status, type SessionState } from "../../model/session.ts";
import type { SeenPullRequest, PullRequestFacts, ReviewThread } from "../../contract/tracker.ts";
import { contentKey } from "../../model/text.ts";
import { inWords, isApprovedAndGreen, sortChecks, staleAfterMs } from "../../model/pull-requests.ts";
import { failedTurn } from "../../model/status.ts";
import type { ReactionFacts } from "./plan.ts";
import type { SessionId } from "../../contract/ids.ts";
import { orchestratorOf } from "../../model/roles.ts";

const finished: ReadonlySet<Status> = new Set<Status>(["done", "merged"]);
const over: ReadonlySet<Status> = new Set<Status>(["done", "merged", "exited", "killed", "archived"]);

/**
 * The session that it is told of, and the key of the set; null while it is not so. A message is for the orchestrator, where
 * there is one; else it is the worker that finished last.
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

/** Some checks are never finished; after this the failed ones are not kept waiting for them. */
export const pendingPatienceMs = 10 * 60_000;
/** Long enough for an agent that waits for something of its own, such as a build it started. */
export const idleAfterMs = 15 * 60_000;

/** An end that is older is no news. */
const newsMs = 60 * 60_000;

export interface Trouble {
  key: string;
  /** A whole sentence. */
  why: string;
  pullRequest: PullRequestFacts | null;
  failedChecks: string[];
  /** Null where the host would not tell. */
  threads: ReviewThread[] | null;
}

export type Found =
  | { is: "known"; troubles: Trouble[]; /** Whether it is proven not to be so. */ over: boolean }
  | { is: "ask"; pullRequest: PullRequestFacts }
  | { is: "unclear" };

export function troublesOf(reaction: ReactionName, facts: ReactionFacts, now: number): Found {
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
      return known(
        facts.allDone === null ? [] : [trouble(facts.allDone, "Every session of the project has finished.", null)],
        false,
      );
    default:
      return reaction satisfies never;
  }
}

function known(troubles: Trouble[], over = troubles.length === 0): Found {
  return { is: "known", troubles, over };
}

function trouble(key: string, why: string, pullRequest: PullRequestFacts | null, more: Partial<Trouble> = {}): Trouble {
  return { key, why, pullRequest, failedChecks: [], threads: null, ...more };
}

type Judged = Trouble | "over" | "unclear";

/** What is on record of pull requests counts only while the tracker confirms it: a weekend later it may all be mended. */
function ofPullRequests(facts: ReactionFacts, now: number, judge: (one: SeenPullRequest) => Judged): Found {
  if (!isFresh(facts, now)) return { is: "unclear" };
  const judged = openOf(facts).map(judge);
  const troubles = judged.filter((one): one is Trouble => typeof one === "object");
  return known(
    troubles,
    judged.every((one) => one === "over"),
  );
}

function isFresh({ heardAt }: ReactionFacts, now: number): boolean {
  return heardAt !== null && now - heardAt < staleAfterMs;
}

function openOf({ session }: ReactionFacts): SeenPullRequest[] {
  return (session.pullRequests ?? []).filter(({ facts, lost }) => lost === null && facts.state === "open");
}

function failedChecks({ facts, seenAt }: SeenPullRequest, now: number): Judged {
  const { failed, pending } = sortChecks(facts.checks);
  if (failed.length === 0) return pending.length === 0 ? "over" : "unclear";
  // One message about all of them beats one about each.
  if (pending.length > 0 && now - seenAt < pendingPatienceMs) return "unclear";
  const names = failed.map(({ name }) => name).toSorted();
  return trouble(
    `ci:${facts.number}:${facts.headSha.slice(0, 12)}:${contentKey(names.join("\n"))}`,
    `Checks of pull request #${facts.number} failed on ${facts.headSha.slice(0, 8)}: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""}.`,
    facts,
    { failedChecks: names },
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
    // Without them the agent would be told that something is wanted, but not what.
    if (answer === undefined || answer.is === "unknown") return "unclear";
    const open = answer.is === "known" ? answer.value.filter(({ resolved }) => !resolved) : [];
    const ids = open.map(({ id }) => id).toSorted();
    return trouble(
      `review:${of.number}:${ids.length === 0 ? of.headSha.slice(0, 12) : contentKey(ids.join("\n"))}`,
      `A review of pull request #${of.number} asks for changes${ids.length === 0 ? "" : ` (${ids.length} open ${ids.length === 1 ? "thread" : "threads"})`}.`,
      of,
      { threads: answer.is === "known" ? open : null },
    );
  });
}

function conflict({ facts }: SeenPullRequest): Judged {
  if (facts.conflict === null) return "unclear";
  if (!facts.conflict) return "over";
  return trouble(
    `conflict:${facts.number}:${facts.headSha.slice(0, 12)}`,
    `Pull request #${facts.number} does not merge into ${facts.baseBranch} any more.`,
    facts,
  );
}

function approved({ facts }: SeenPullRequest): Judged {
  if (!isApprovedAndGreen(facts)) return "over";
  return trouble(
    `green:${facts.number}:${facts.headSha.slice(0, 12)}`,
    `Pull request #${facts.number} is approved and its checks passed.`,
    facts,
  );
}

function idle(facts: ReactionFacts, now: number): Found {
  const { session, status } = facts;
  const handedIn = (session.pullRequests ?? []).some(({ facts: of, lost }) => lost === null && of.state !== "closed");
  if (handedIn || session.role !== "worker") return known([], true);
  const quiet = now - session.lastActivityAt;
  if (status !== "idle" || !session.prompted || quiet < idleAfterMs) return { is: "unclear" };
  return known([
    trouble(
      `idle:${session.lastActivityAt}`,
      `The agent has been idle for ${inWords(quiet)} without a pull request.`,
      null,
    ),
  ]);
}

function asking({ session, status, reason }: ReactionFacts): Found {
  if (status !== "needs_input") return known([]);
  const questions = session.permissions.map(({ requestId }) => requestId);
  // Seen, but not on record yet: its record is the key, and the key of the moment before would notify twice.
  if (questions.length === 0 && session.activity?.activity !== "needs_input") return { is: "unclear" };
  const key = questions.length > 0 ? contentKey(questions.join("\n")) : String(session.activity?.at ?? session.seq);
  const what = session.permissions[0]?.title;
  const why = what === undefined ? asSentence(reason ?? "The agent waits for an answer") : `The agent asks: ${what}`;
  return known([trouble(`asks:${key}`, why, null)]);
}

const betweenTurns: ReadonlySet<Status> = new Set<Status>(["idle", ...pullRequestStatuses]);

function failing({ session, status, turnFailed = false }: ReactionFacts, now: number): Found {
  const failed = failedTurn(session);
  // A turn that is still open may fail as the one before did: only its end proves anything.
  if (failed === null) return known([], betweenTurns.has(status));
  const at = session.turn.turn === "ended" ? session.turn.at : (session.cutTurn?.at ?? 0);
  // Not while the agent is down or coming back: then that is the news, or it is about to be.
  if (!turnFailed || now - at > newsMs) return { is: "unclear" };
  return known([trouble(failed.key, asSentence(failed.why), null)]);
}

function ended({ session, status, reason, lostTogether }: ReactionFacts, now: number): Found {
  if (status === "unknown" || status === "starting") return { is: "unclear" };
  if ((status !== "exited" && status !== "failed") || (session.run.run !== "ended" && session.run.run !== "failed")) {
    // That our own message brought it back proves nothing: one that ends after each turn would be called back for ever.
    return known([], status === "done" || session.intent.by !== reactionActor);
  }
  // Whoever starts this daemon does not want to hear of everything that ever ended.
  if (now - session.run.at > newsMs || lostTogether === "announced-by-another") return { is: "unclear" };
  return known([trouble(`end:${session.run.seq}`, whyEnded(status, reason ?? null, lostTogether ?? []), null)]);
}

const namedSessions = 5;

function whyEnded(status: Status, reason: string | null, lost: readonly string[]): string {
  if (status === "exited") return "The agent exited on its own.";
  if (lost.length < 2)
    return `The agent is down: ${asSentence(reason ?? "it does not start, or does not stay up", "")}`;
  const names = lost.slice(0, namedSessions).join(", ");
  const more = lost.length > namedSessions ? ` and ${lost.length - namedSessions} more` : "";
  return `${lost.length} sessions were lost with the machine or its tmux server and not restarted: ${names}${more}. Restore them: holdfast session restore --all`;
}

/** A reason is a fragment; a notification is a sentence. */
function asSentence(reason: string, first = reason.charAt(0).toUpperCase()): string {
  const text = first === "" ? reason : `${first}${reason.slice(1)}`;
  return /[.!?…]$/.test(text) ? text : `${text}.`;
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
  const last = lost.toSorted((a, b) => endOf(b) - endOf(a) || (a.id < b.id ? -1 : 1))[0];
  return last === undefined || last.id === session.id ? idsOf(lost) : "announced-by-another";
}

function isLost({ run }: SessionState): boolean {
  return run.run === "ended" && run.how === "lost";
}

function endOf({ run }: SessionState): number {
  return run.run === "ended" ? run.at : 0;
}

function idsOf(sessions: readonly SessionState[]): SessionId[] {
  return sessions.map(({ id }) => id).toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
