/** Pull requests and issues for tests, in one line each. */
import type { SessionEvent } from "../../contract/event.ts";
import type { CheckState, PullRequestFacts } from "../../contract/tracker.ts";

export const pullRequest = (more: Partial<PullRequestFacts> = {}): PullRequestFacts => ({
  repo: "owner/my-app",
  number: 7,
  url: "https://example.test/owner/my-app/pull/7",
  title: "A change",
  state: "open",
  draft: false,
  headBranch: "ma-1",
  headSha: "a".repeat(40),
  headRepo: "owner/my-app",
  baseBranch: "main",
  checks: [],
  review: "none",
  conflict: false,
  mergeable: null,
  mergeCommit: null,
  updatedAt: 1,
  ...more,
});

export const seen = (more: Partial<PullRequestFacts> = {}): SessionEvent => ({
  type: "pull-request.seen",
  pullRequest: pullRequest(more),
});

export const check = (name: string, state: CheckState): PullRequestFacts["checks"][number] => ({
  name,
  state,
  url: null,
});

export const issueSeen = (state: "open" | "closed"): SessionEvent => ({
  type: "issue.seen",
  issue: { key: "12", url: "https://example.test/owner/my-app/issues/12", title: "An issue", state, labels: [] },
});
