/** A pull request as GitHub's GraphQL tells it: what is asked, what shape is believed, what it means for us. */
import * as z from "zod/mini";
import type { CheckFacts, CheckState, PullRequestFacts, ReviewState } from "../../../contract/tracker.ts";
import { commitId, count, shaped, time, webAddress } from "../asked.ts";
import { plain } from "../text.ts";

const contextFields = `pageInfo { hasNextPage endCursor } nodes { __typename
  ... on CheckRun { name status conclusion detailsUrl }
  ... on StatusContext { context state targetUrl } }`;

/** The opinions are asked for because `reviewDecision` is null where the branch requires no review. */
export const pullRequestFragment = `fragment facts on PullRequest {
  number url title state isDraft headRefName headRefOid headRepository { nameWithOwner }
  baseRefName baseRepository { nameWithOwner } mergeable mergeStateStatus reviewDecision updatedAt
  mergeCommit { oid }
  latestOpinionatedReviews(first: 30, writersOnly: true) { nodes { state } }
  commits(last: 1) { nodes { commit { oid statusCheckRollup { contexts(first: 100) { ${contextFields} } } } } }
}`;

/** More than a hundred checks on one commit: the rest, page by page. */
export const moreChecksQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { commits(last: 1) { nodes { commit {
    oid statusCheckRollup { contexts(first: 100, after: $after) { ${contextFields} } } } } } } }
}`;

const context = z.union([
  z.object({
    __typename: z.literal("CheckRun"),
    name: z.string(),
    status: z.string(),
    conclusion: z.nullable(z.string()),
    detailsUrl: z.nullable(z.string()),
  }),
  z.object({
    __typename: z.literal("StatusContext"),
    context: z.string(),
    state: z.string(),
    targetUrl: z.nullable(z.string()),
  }),
]);

const contexts = z.object({
  pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.nullable(z.string()) }),
  nodes: z.array(context),
});

export type Contexts = z.infer<typeof contexts>;

export const lastCommit = z.object({
  nodes: z.array(
    z.object({
      commit: z.object({ oid: commitId, statusCheckRollup: z.nullable(z.object({ contexts })) }),
    }),
  ),
});

const named = z.object({ nameWithOwner: z.string() });

const pullRequest = z.object({
  number: count,
  url: webAddress,
  title: z.string(),
  state: z.enum(["OPEN", "CLOSED", "MERGED"]),
  isDraft: z.boolean(),
  headRefName: z.string(),
  headRefOid: commitId,
  headRepository: z.nullable(named),
  baseRefName: z.string(),
  baseRepository: z.nullable(named),
  mergeable: z.string(),
  mergeStateStatus: z.string(),
  reviewDecision: z.nullable(z.string()),
  updatedAt: time,
  mergeCommit: z.nullable(z.object({ oid: commitId })),
  latestOpinionatedReviews: z.nullable(z.object({ nodes: z.array(z.object({ state: z.string() })) })),
  commits: lastCommit,
});

type Told = z.infer<typeof pullRequest>;

/** `more`: where the remaining checks begin, or null when all are here. */
export function readPullRequest(value: unknown, repo: string): { facts: PullRequestFacts; more: string | null } {
  const told = shaped(pullRequest, value, "GitHub");
  const isOpen = told.state === "OPEN";
  const found = told.commits.nodes.at(-1)?.commit.statusCheckRollup?.contexts;
  const facts: PullRequestFacts = {
    repo: told.baseRepository?.nameWithOwner ?? repo,
    number: told.number,
    url: told.url,
    title: plain(told.title),
    state: told.state === "OPEN" ? "open" : told.state === "MERGED" ? "merged" : "closed",
    draft: told.isDraft,
    headBranch: told.headRefName,
    headSha: told.headRefOid,
    headRepo: told.headRepository?.nameWithOwner ?? null,
    baseBranch: told.baseRefName,
    checks: found === undefined ? [] : readChecks(found),
    review: reviewOf(told),
    // GitHub stops finding out once it is closed.
    conflict: isOpen ? conflictOf(told) : false,
    mergeable: isOpen ? mergeableOf(told.mergeStateStatus) : false,
    mergeCommit: told.mergeCommit?.oid ?? null,
    updatedAt: Date.parse(told.updatedAt),
  };
  return { facts, more: found?.pageInfo.hasNextPage === true ? found.pageInfo.endCursor : null };
}

export function readChecks(found: Contexts): CheckFacts[] {
  return found.nodes.map((one) =>
    one.__typename === "CheckRun"
      ? { name: plain(one.name), state: runState(one.status, one.conclusion), url: linkOf(one.detailsUrl) }
      : { name: plain(one.context), state: statusState(one.state), url: linkOf(one.targetUrl) },
  );
}

function runState(status: string, conclusion: string | null): CheckState {
  if (status !== "COMPLETED") return "pending";
  switch (conclusion) {
    case "SUCCESS":
      return "passed";
    case "NEUTRAL":
    case "SKIPPED":
    case "STALE":
      return "skipped";
    // It waits for a person to press a button; no agent can mend that.
    case "ACTION_REQUIRED":
      return "pending";
    case null:
    default:
      return "failed";
  }
}

function statusState(state: string): CheckState {
  if (state === "SUCCESS") return "passed";
  return state === "PENDING" || state === "EXPECTED" ? "pending" : "failed";
}

function reviewOf(told: Told): ReviewState {
  if (told.reviewDecision === "CHANGES_REQUESTED") return "changes_requested";
  if (told.reviewDecision === "APPROVED") return "approved";
  const opinions = told.latestOpinionatedReviews?.nodes.map((one) => one.state) ?? [];
  if (opinions.includes("CHANGES_REQUESTED")) return "changes_requested";
  if (told.reviewDecision === "REVIEW_REQUIRED") return "required";
  return opinions.includes("APPROVED") ? "approved" : "none";
}

function conflictOf(told: Told): boolean | null {
  if (told.mergeable === "CONFLICTING" || told.mergeStateStatus === "DIRTY") return true;
  return told.mergeable === "MERGEABLE" ? false : null;
}

/** `UNSTABLE`: a check that is not required failed or runs; the host would merge. */
function mergeableOf(status: string): boolean | null {
  if (status === "CLEAN" || status === "HAS_HOOKS" || status === "UNSTABLE") return true;
  return status === "UNKNOWN" ? null : false;
}

function linkOf(url: string | null): string | null {
  return url !== null && z.safeParse(webAddress, url).success ? url : null;
}
