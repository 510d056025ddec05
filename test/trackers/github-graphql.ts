/** The fake GitHub's GraphQL schema: the queried types and fields, under their published names. */
import { isApproved, isRefused, opinions, type ModelCheck, type ModelPullRequest } from "./code-host.ts";
import type { GithubLoopback } from "./github.ts";
import { field, FieldError, type Typed } from "./graphql.ts";

export function githubGraphql(host: GithubLoopback): Typed {
  return {
    __typename: "Query",
    rateLimit: {
      __typename: "RateLimit",
      cost: 1,
      limit: 5000,
      remaining: host.remaining,
      resetAt: "2030-01-01T00:00:00Z",
    },
    repository: field(["owner", "name", "followRenames"], ({ owner, name }) => {
      const asked = `${String(owner)}/${String(name)}`.toLowerCase();
      const names = [host.repo, ...host.formerNames].map((one) => one.toLowerCase());
      if (host.hidden || !names.includes(asked)) {
        const message = `Could not resolve to a Repository with the name '${String(owner)}/${String(name)}'.`;
        throw new FieldError(message, { type: "NOT_FOUND" });
      }
      return repository(host);
    }),
  };
}

function repository(host: GithubLoopback): Typed {
  return {
    __typename: "Repository",
    nameWithOwner: host.repo,
    pullRequest: field(["number"], ({ number }) => {
      if (host.brokenNumbers.has(number as number))
        throw new FieldError("Something went wrong while executing your query.");
      const one = host.pullRequestsByNumber.get(number as number);
      if (one === undefined) {
        const message = `Could not resolve to a PullRequest with the number of ${String(number)}.`;
        throw new FieldError(message, { type: "NOT_FOUND" });
      }
      return pullRequest(host, one);
    }),
    pullRequests: field(["headRefName", "states", "first", "after", "orderBy"], ({ headRefName, states, first }) => {
      const wanted = [...host.pullRequestsByNumber.values()]
        .filter((one) => headRefName === undefined || one.branch === headRefName)
        .filter((one) => states === undefined || (states as string[]).includes(one.state.toUpperCase()))
        .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
      if (wanted.some((one) => host.brokenNumbers.has(one.number))) {
        throw new FieldError("Something went wrong while executing your query.");
      }
      return connection(
        wanted.map((one) => pullRequest(host, one)),
        first,
      );
    }),
    issue: field(["number"], ({ number }) => issueOrFail(host, number as number, false)),
    issueOrPullRequest: field(["number"], ({ number }) => issueOrFail(host, number as number, true)),
  };
}

function issueOrFail(host: GithubLoopback, number: number, orPull: boolean): Typed {
  if (host.brokenNumbers.has(number)) throw new FieldError("Something went wrong while executing your query.");
  const one = host.issuesByNumber.get(number);
  if (one !== undefined) {
    return {
      __typename: "Issue",
      number,
      url: `${host.url}/${host.repo}/issues/${number}`,
      title: one.title,
      body: one.body ?? "",
      state: one.state.toUpperCase(),
      updatedAt: one.updatedAt.toISOString(),
      labels: field(["first"], ({ first }) =>
        connection(
          one.labels.map((name) => ({ __typename: "Label", name })),
          first,
        ),
      ),
    };
  }
  const pull = orPull ? host.pullRequestsByNumber.get(number) : undefined;
  if (pull !== undefined) return pullRequest(host, pull);
  throw new FieldError(`Could not resolve to an issue or pull request with the number of ${number}.`, {
    type: "NOT_FOUND",
  });
}

function pullRequest(host: GithubLoopback, one: ModelPullRequest): Typed {
  const url = `${host.url}/${host.repo}/pull/${one.number}`;
  const user = (login: string): Typed => ({ __typename: "User", login });
  return {
    __typename: "PullRequest",
    id: `PR_${one.number}`,
    number: one.number,
    url,
    title: one.title,
    body: one.body ?? "",
    state: one.state.toUpperCase(),
    isDraft: one.draft,
    headRefName: one.branch,
    headRefOid: one.sha,
    headRepository: one.repo === null ? null : { __typename: "Repository", nameWithOwner: one.repo },
    baseRefName: one.base,
    baseRepository: { __typename: "Repository", nameWithOwner: host.repo },
    mergeable: one.conflict === null ? "UNKNOWN" : one.conflict ? "CONFLICTING" : "MERGEABLE",
    mergeStateStatus: mergeState(host, one),
    reviewDecision: decision(host, one),
    mergeCommit: one.mergeCommit === null ? null : { __typename: "Commit", oid: one.mergeCommit },
    updatedAt: one.updatedAt.toISOString(),
    labels: field(["first"], ({ first }) => connection([], first)),
    latestOpinionatedReviews: field(["first", "after", "writersOnly"], ({ first, writersOnly }) =>
      connection(
        opinions(one)
          .filter((review) => writersOnly !== true || review.writer)
          .map((review) => ({
            __typename: "PullRequestReview",
            id: `PRR_${review.id}`,
            state: review.state.toUpperCase(),
            author: user(review.author),
            body: review.body,
            url: `${url}#pullrequestreview-${review.id}`,
          })),
        first,
      ),
    ),
    reviewThreads: field(["first", "after"], ({ first, after }) =>
      connection(
        one.threads.map((thread) => ({
          __typename: "PullRequestReviewThread",
          id: `PRRT_${thread.id}`,
          isResolved: thread.resolved,
          isOutdated: false,
          path: thread.path ?? "README.md",
          line: thread.line,
          originalLine: thread.line,
          comments: field(["first"], (given) =>
            connection(
              thread.comments.map((comment) => ({
                __typename: "PullRequestReviewComment",
                author: user(comment.author),
                authorAssociation: comment.writer === false ? "CONTRIBUTOR" : "COLLABORATOR",
                body: comment.body,
                url: `${url}#discussion_r${comment.id}`,
              })),
              given["first"],
            ),
          ),
        })),
        first,
        after,
      ),
    ),
    commits: field(["first", "last"], () =>
      connection([{ __typename: "PullRequestCommit", commit: commit(host, one) }], 1),
    ),
  };
}

function commit(host: GithubLoopback, one: ModelPullRequest): Typed {
  return {
    __typename: "Commit",
    oid: one.sha,
    statusCheckRollup:
      one.checks.length === 0
        ? null
        : {
            __typename: "StatusCheckRollup",
            state: rollup(one.checks),
            contexts: field(["first", "after"], ({ first, after }) =>
              connection(
                one.checks.map((check) => context(host, check)),
                first,
                after,
              ),
            ),
          },
  };
}

function context(host: GithubLoopback, check: ModelCheck): Typed {
  if (check.status) {
    return {
      __typename: "StatusContext",
      context: check.name,
      state: { pending: "PENDING", passed: "SUCCESS", failed: "FAILURE", skipped: "SUCCESS" }[check.state],
      targetUrl: "https://ci.example.invalid/1",
    };
  }
  const conclusion = { pending: null, passed: "SUCCESS", failed: "FAILURE", skipped: "SKIPPED" }[check.state];
  return {
    __typename: "CheckRun",
    databaseId: check.id,
    name: check.name,
    status: check.state === "pending" ? "IN_PROGRESS" : "COMPLETED",
    conclusion,
    detailsUrl: `${host.url}/${host.repo}/actions/runs/1/job/${check.id}`,
  };
}

function rollup(checks: ModelCheck[]): string {
  if (checks.some((check) => check.state === "failed")) return "FAILURE";
  return checks.some((check) => check.state === "pending") ? "PENDING" : "SUCCESS";
}

function decision(host: GithubLoopback, one: ModelPullRequest): string | null {
  if (isRefused(one)) return "CHANGES_REQUESTED";
  if (!host.reviewRequired) return null;
  return isApproved(one) ? "APPROVED" : "REVIEW_REQUIRED";
}

function mergeState(host: GithubLoopback, one: ModelPullRequest): string {
  if (one.conflict === null || one.state !== "open") return "UNKNOWN";
  if (one.conflict) return "DIRTY";
  if (one.draft) return "DRAFT";
  if (isRefused(one) || (host.reviewRequired && !isApproved(one))) return "BLOCKED";
  return one.checks.every((check) => check.state === "passed" || check.state === "skipped") ? "CLEAN" : "UNSTABLE";
}

/** Cursors are positions; `first` is required and at most 100, as on GitHub. */
function connection(all: Typed[], first: unknown, after?: unknown): Typed {
  if (typeof first !== "number" || first < 1 || first > 100) {
    throw new FieldError(
      "You must provide a `first` or `last` value of 1 to 100 to properly paginate the connection.",
      {
        type: "MISSING_PAGINATION_BOUNDARIES",
      },
    );
  }
  const from = typeof after === "string" ? Number(after) : 0;
  const end = Math.min(all.length, from + first);
  return {
    __typename: "Connection",
    totalCount: all.length,
    nodes: all.slice(from, end),
    pageInfo: { __typename: "PageInfo", hasNextPage: end < all.length, endCursor: end === 0 ? null : String(end) },
  };
}
