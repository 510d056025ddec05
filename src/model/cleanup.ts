/** Which sessions a cleanup would kill, and why. It only plans: the kill is a verb like any other. */
import type { CleanupLine } from "../contract/session.ts";
import type { SessionState } from "./session.ts";
import type { Status } from "../contract/ids.ts";
import type { Observed, RuntimeFacts } from "./facts.ts";

/** Facts about whether the base has a branch's work, by content: a squash or a rebase makes new commits. */
export interface MergeFacts {
  /** Commits of the worktree's HEAD that the base does not have, newest first: `<short id> <subject>`. */
  ahead: string[];
  /** Of these, the ones that no merged pull request's last commit has either. */
  behindNoHead: string[];
  /** Whether every file that the branch changed is the same in the base; null if unknown. */
  sameFiles: boolean | null;
  /** Whether one commit of the base equals the change of the entire branch; null if unknown. */
  samePatch: boolean | null;
}

export type MergeCheck = { landed: true; by: string } | { landed: false; commits: string[] };

export function checkMerge(facts: MergeFacts): MergeCheck {
  if (facts.ahead.length === 0) return { landed: true, by: "its base has all of its commits" };
  if (facts.behindNoHead.length === 0) return { landed: true, by: "its merged pull request had all of its commits" };
  if (facts.samePatch === true) return { landed: true, by: "its base contains an equivalent commit" };
  if (facts.sameFiles === true) return { landed: true, by: "its base has the same files" };
  return { landed: false, commits: facts.behindNoHead };
}

/** Commits listed by name; more are counted. */
const namedCommits = 5;

/** Work that exists only in the worktree, as text; empty if everything is safe elsewhere. */
export function workLeft(work: { uncommitted: number; landing: MergeCheck | null }): string[] {
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
  /** From the tracker; null if unknown, or polled too long ago to kill anything because of it. */
  issueClosed: boolean | null;
  /** Whether its host was polled just now; otherwise the recorded pull request may be outdated. */
  pullRequestPolled?: boolean;
  /** Whether the base has everything from a pull request that was closed without a merge. */
  landed?: boolean;
}

export interface CleanupOptions {
  /** Also sessions that are proven dead. */
  dead: boolean;
}

/** One line per session, in the given order: `would-kill` or `skipped`. */
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
    return end("its pull request is closed, and its base has the changes");
  }
  if (!over && issueClosed === true) return end("its issue is closed");
  if (dead && (over || status === "failed")) return ofEnded(status, runtime);
  if (over) return skip(`already ${status}`);
  return skip(whyNot(candidate));
}

function ofEnded(status: Status, runtime: Observed<RuntimeFacts>): Verdict {
  if (runtime.is === "unknown") return skip(`could not be observed: ${runtime.why}`);
  if (runtime.is === "known" && runtime.value.agent.alive) return skip("its agent is alive");
  return end(status === "failed" ? "it failed" : "its agent has exited");
}

function whyNot({ session, issueClosed, pullRequestPolled = true }: CleanupCandidate): string {
  const reasons = [
    session.pullRequest === null
      ? null
      : pullRequestPolled
        ? "its pull request is not merged"
        : "could not check whether its pull request is merged",
    session.issue === null
      ? null
      : issueClosed === false
        ? "its issue is open"
        : "could not check whether its issue is closed",
  ].filter((reason) => reason !== null);
  return reasons.length > 0 ? reasons.join(", ") : "it has no pull request or issue that marks it completed";
}

function end(why: string): Verdict {
  return { outcome: "would-kill", why };
}

function skip(why: string): Verdict {
  return { outcome: "skipped", why };
}
