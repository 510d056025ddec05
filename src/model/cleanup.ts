/** Which sessions a cleanup would end, and why. It only says so: ending them is a kill like any other. */
import type { CleanupLine } from "../contract/session.ts";
import type { SessionState, Status } from "./session.ts";
import type { Observed, RuntimeFacts } from "./facts.ts";

/**
 * Whether a branch's work is in its base, although its commits are not: a squash or a rebase makes new ones. Judged by
 * content, from facts that git gave (worktree/merge-check.ts).
 */

interface LandingFacts {
  /** Commits of the worktree's HEAD that the base does not have, newest first: `<short id> <subject>`. */
  ahead: string[];
  /** Of these, the ones that no merged pull request's last commit has either. */
  behindNoHead: string[];
  /** Whether every file that the branch changed is the same in the base; null where that could not be told. */
  sameFiles: boolean | null;
  /** Whether one commit of the base makes the very change that the whole branch makes; null where not told. */
  samePatch: boolean | null;
}

export type Landing = { landed: true; by: string } | { landed: false; commits: string[] };

export function judgeLanding(facts: LandingFacts): Landing {
  if (facts.ahead.length === 0) return { landed: true, by: "its base has all of its commits" };
  if (facts.behindNoHead.length === 0) return { landed: true, by: "its merged pull request had all of its commits" };
  if (facts.samePatch === true) return { landed: true, by: "one commit of its base makes the same change" };
  if (facts.sameFiles === true) return { landed: true, by: "its base has the same files" };
  return { landed: false, commits: facts.behindNoHead };
}

/** Commits that are named one by one; of more a count is enough. */
const namedCommits = 5;

/** What only the worktree holds, in sentences; empty when everything is safe elsewhere. */
export function workLeft(work: { uncommitted: number; landing: Landing | null }): string[] {
  const { uncommitted, landing } = work;
  const files = uncommitted === 0 ? [] : [`${uncommitted} uncommitted ${uncommitted === 1 ? "file" : "files"}`];
  if (landing === null || landing.landed) return files;
  const { commits } = landing;
  const named = commits.slice(0, namedCommits).map((line) => `  ${line}`);
  const more = commits.length > namedCommits ? [`  and ${commits.length - namedCommits} more`] : [];
  return [
    ...files,
    `${commits.length} ${commits.length === 1 ? "commit that was" : "commits that were"} not merged:`,
    ...named,
    ...more,
  ];
}

export interface CleanupCandidate {
  session: SessionState;
  status: Status;
  runtime: Observed<RuntimeFacts>;
  /** What the tracker says; null where it is not known, or was said too long ago to end anything for it. */
  issueClosed: boolean | null;
  /** Whether its host was heard now; else what is on record of the pull request may be over. */
  pullRequestHeard?: boolean;
  /** Whether all that a pull request closed without a merge held is in its base: it was merged by other means. */
  landed?: boolean;
}

export interface CleanupOptions {
  /** Also what is proven dead. */
  dead: boolean;
}

/** One line for each session, in the order given: `would-kill` for those to end, `skipped` for all others. */
export function planCleanup(candidates: readonly CleanupCandidate[], options: CleanupOptions): CleanupLine[] {
  return candidates
    .filter(({ session }) => session.intent.want !== "deleted")
    .map((candidate) => ({ session: candidate.session.id, ...verdict(candidate, options) }));
}

type Verdict = Omit<CleanupLine, "session">;

function verdict(candidate: CleanupCandidate, { dead }: CleanupOptions): Verdict {
  const { session, status, runtime, issueClosed } = candidate;
  if (session.role === "orchestrator") return skip("orchestrators are never cleaned up");
  if (status === "killed") return skip("already killed");
  const over = status === "done" || status === "exited";
  if (!over && session.pullRequest?.state === "merged") return end("its pull request is merged");
  if (!over && session.pullRequest?.state === "closed" && candidate.landed === true) {
    return end("its pull request is closed, and what it held is in its base");
  }
  if (!over && issueClosed === true) return end("its issue is closed");
  if (dead && (over || status === "failed")) return ofEnded(status, runtime);
  if (over) return skip(`already ${status}`);
  return skip(whyNot(candidate));
}

function ofEnded(status: Status, runtime: Observed<RuntimeFacts>): Verdict {
  if (runtime.is === "unknown") return skip(`could not be observed: ${runtime.why}`);
  if (runtime.is === "known" && runtime.value.agent.alive) return skip("its agent is alive");
  return end(status === "failed" ? "it failed" : "its agent has ended");
}

function whyNot({ session, issueClosed, pullRequestHeard = true }: CleanupCandidate): string {
  const reasons = [
    session.pullRequest === null
      ? null
      : pullRequestHeard
        ? "its pull request is not merged"
        : "whether its pull request is merged is not known",
    session.issue === null
      ? null
      : issueClosed === false
        ? "its issue is open"
        : "whether its issue is closed is not known",
  ].filter((reason) => reason !== null);
  return reasons.length > 0 ? reasons.join(", ") : "it has no pull request or issue that says it is completed";
}

function end(why: string): Verdict {
  return { outcome: "would-kill", why };
}

function skip(why: string): Verdict {
  return { outcome: "skipped", why };
}
