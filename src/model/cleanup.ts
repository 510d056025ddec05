/** Which sessions a cleanup would end, and why. It only says so: ending them is a kill like any other. */
import type { CleanupLine } from "../contract/command.ts";
import type { SessionState, Status } from "./session.ts";
import type { Observed, RuntimeFacts } from "./facts.ts";

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
