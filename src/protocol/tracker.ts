/** Facts about issues and pull requests, as they are stored, sent and decided on. Times are milliseconds. */

export interface IssueFacts {
  /** `123` or `INT-1234`. */
  key: string;
  url: string;
  title: string;
  body: string;
  state: "open" | "closed";
  labels: string[];
}

export type CheckState = "pending" | "passed" | "failed" | "skipped";

export interface CheckFacts {
  name: string;
  state: CheckState;
  url: string | null;
}

/** `commented` and dismissed reviews decide nothing, so they are not told. */
export type ReviewState = "none" | "required" | "changes_requested" | "approved";

export interface PullRequestFacts {
  /** `owner/name` of the repository it would be merged into. */
  repo: string;
  number: number;
  url: string;
  title: string;
  state: "open" | "closed" | "merged";
  draft: boolean;
  headBranch: string;
  headSha: string;
  /** `owner/name` it comes from; null when that repository is gone. */
  headRepo: string | null;
  baseBranch: string;
  checks: CheckFacts[];
  review: ReviewState;
  /** Null while the host has not found out. */
  conflict: boolean | null;
  /** Whether the host would let it be merged now; null while it has not found out. */
  mergeable: boolean | null;
  mergeCommit: string | null;
  updatedAt: number;
}

export interface ReviewThread {
  id: string;
  path: string | null;
  line: number | null;
  author: string;
  body: string;
  url: string;
  resolved: boolean;
}
