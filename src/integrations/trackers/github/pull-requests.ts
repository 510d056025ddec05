/**
 * Pull requests of many sessions in few requests: one conditional request for the list of recent updates, then one query
 * for up to fifty sessions that may have changed.
 */
import * as z from "zod/mini";
import type { TrackerResult, PullRequestLookup } from "../../../ports/tracker.ts";
import type { PullRequestFacts, CheckFacts, CheckState, ReviewState } from "../../../contract/tracker.ts";
import { absent, commitId, count, known, resultOf, shaped, time, webAddress } from "../result.ts";
import { Unanswered } from "../http.ts";
import { Memory, type Give, type Updated, type Updates } from "../memory.ts";
import type { GithubClient, GraphqlResponse, GraphqlError } from "./client.ts";
import { plain } from "../text.ts";

const contextFields = `pageInfo { hasNextPage endCursor } nodes { __typename
  ... on CheckRun { name status conclusion detailsUrl }
  ... on StatusContext { context state targetUrl } }`;

/** Reviews are needed because `reviewDecision` is null if the branch requires none. */
const pullRequestFragment = `fragment facts on PullRequest {
  number url title state isDraft headRefName headRefOid headRepository { nameWithOwner }
  baseRefName baseRepository { nameWithOwner } mergeable mergeStateStatus reviewDecision updatedAt
  mergeCommit { oid }
  latestOpinionatedReviews(first: 30, writersOnly: true) { nodes { state } }
  commits(last: 1) { nodes { commit { oid statusCheckRollup { contexts(first: 100) { ${contextFields} } } } } }
}`;

/** The next page, for commits with more than a hundred checks. */
const moreChecksQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String!) {
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

type Contexts = z.infer<typeof contexts>;

const lastCommit = z.object({
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

type PullRequestNode = z.infer<typeof pullRequest>;

/** `more`: cursor of the remaining checks, or null. */
function readPullRequest(value: unknown, repo: string): { facts: PullRequestFacts; more: string | null } {
  const node = shaped(pullRequest, value, "GitHub");
  const isOpen = node.state === "OPEN";
  const found = node.commits.nodes.at(-1)?.commit.statusCheckRollup?.contexts;
  const facts: PullRequestFacts = {
    repo: node.baseRepository?.nameWithOwner ?? repo,
    number: node.number,
    url: node.url,
    title: plain(node.title),
    state: node.state === "OPEN" ? "open" : node.state === "MERGED" ? "merged" : "closed",
    draft: node.isDraft,
    headBranch: node.headRefName,
    headSha: node.headRefOid,
    headRepo: node.headRepository?.nameWithOwner ?? null,
    baseBranch: node.baseRefName,
    checks: found === undefined ? [] : readChecks(found),
    review: reviewOf(node),
    // GitHub does not update this for closed ones.
    conflict: isOpen ? conflictOf(node) : false,
    mergeable: isOpen ? mergeableOf(node.mergeStateStatus) : false,
    mergeCommit: node.mergeCommit?.oid ?? null,
    updatedAt: Date.parse(node.updatedAt),
  };
  return { facts, more: found?.pageInfo.hasNextPage === true ? found.pageInfo.endCursor : null };
}

function readChecks(found: Contexts): CheckFacts[] {
  return found.nodes.map((one) =>
    one.__typename === "CheckRun"
      ? { name: plain(one.name), state: runState(one.status, one.conclusion), url: linkOf(one.detailsUrl) }
      : { name: plain(one.context), state: statusStates.get(one.state) ?? "failed", url: linkOf(one.targetUrl) },
  );
}

/** Any other conclusion is a failure. */
const conclusions = new Map<string, CheckState>([
  ["SUCCESS", "passed"],
  ["NEUTRAL", "skipped"],
  ["SKIPPED", "skipped"],
  ["STALE", "skipped"],
  // It waits for a user; no agent can fix that.
  ["ACTION_REQUIRED", "pending"],
]);

/** Any other state is a failure. */
const statusStates = new Map<string, CheckState>([
  ["SUCCESS", "passed"],
  ["PENDING", "pending"],
  ["EXPECTED", "pending"],
]);

function runState(status: string, conclusion: string | null): CheckState {
  return status === "COMPLETED" ? (conclusions.get(conclusion ?? "") ?? "failed") : "pending";
}

function reviewOf(node: PullRequestNode): ReviewState {
  if (node.reviewDecision === "CHANGES_REQUESTED") return "changes_requested";
  if (node.reviewDecision === "APPROVED") return "approved";
  const opinions = node.latestOpinionatedReviews?.nodes.map((one) => one.state) ?? [];
  if (opinions.includes("CHANGES_REQUESTED")) return "changes_requested";
  if (node.reviewDecision === "REVIEW_REQUIRED") return "required";
  return opinions.includes("APPROVED") ? "approved" : "none";
}

function conflictOf(node: PullRequestNode): boolean | null {
  if (node.mergeable === "CONFLICTING" || node.mergeStateStatus === "DIRTY") return true;
  return node.mergeable === "MERGEABLE" ? false : null;
}

/** `UNSTABLE`: a check that is not required failed or is running; GitHub would merge. */
function mergeableOf(status: string): boolean | null {
  if (status === "CLEAN" || status === "HAS_HOOKS" || status === "UNSTABLE") return true;
  return status === "UNKNOWN" ? null : false;
}

function linkOf(url: string | null): string | null {
  return url !== null && z.safeParse(webAddress, url).success ? url : null;
}

/** A query of fifty costs about five points of GitHub's 5000 per hour. */
export const lookupsPerQuery = 50;
/** The first page of recently updated pull requests or issues. */
export const recentFirst = { state: "all", sort: "updated", direction: "desc", per_page: 100 };
/** The largest GraphQL integer; a larger one would fail the complete query. */
const maxNumber = 2 ** 31 - 1;
/** A reused branch, or one that a fork has too, has several. */
const perBranch = 3;
/** A thousand checks per commit. */
const maxCheckPages = 10;

export class GithubPullRequests {
  readonly #client: GithubClient;
  readonly #repo: string;
  readonly #memory = new Memory();

  constructor(client: GithubClient, repo: string) {
    this.#client = client;
    this.#repo = repo;
  }

  async ask(lookups: readonly PullRequestLookup[]): Promise<Map<string, TrackerResult<PullRequestFacts[]>>> {
    const { now } = this.#client.http.options.account;
    return await this.#memory.ask(
      lookups,
      now,
      () => this.#updates(),
      async (pending, _, give) => {
        for (let at = 0; at < pending.length; at += lookupsPerQuery) {
          await this.#query(pending.slice(at, at + lookupsPerQuery), give);
        }
      },
    );
  }

  async one(number: number): Promise<TrackerResult<PullRequestFacts>> {
    let found: TrackerResult<PullRequestFacts[]> = absent;
    await this.#query([{ key: "one", branch: "", numbers: [number] }], (_, result) => (found = result));
    return firstOf(found);
  }

  /** Null: the repository does not exist, or the token cannot access it. */
  async #updates(): Promise<Updates | null> {
    const [owner, repo] = this.#repo.split("/");
    const parameters = { owner, repo, ...recentFirst };
    const data = await this.#client.get("GET /repos/{owner}/{repo}/pulls", parameters, "list pull requests");
    if (data === null) return null;
    const list = shaped(z.array(listed), data, "GitHub").map((one): Updated => ({
      number: one.number,
      branch: one.head.ref,
      headSha: one.head.sha,
      state: one.state === "open" ? "open" : one.merged_at === null ? "closed" : "merged",
      updatedAt: Date.parse(one.updated_at),
    }));
    return { list, isComplete: list.length < recentFirst.per_page };
  }

  async #query(lookups: readonly PullRequestLookup[], give: Give): Promise<void> {
    const [owner, name] = this.#repo.split("/");
    const variables: Record<string, unknown> = { owner, name };
    const declared: string[] = [];
    const fields: string[] = [];
    const aliases = lookups.map((lookup, index) => {
      const own: string[] = [];
      if (lookup.branch !== "") {
        variables[`b${index}`] = lookup.branch;
        declared.push(`$b${index}: String!`);
        fields.push(
          `b${index}: pullRequests(headRefName: $b${index}, first: ${perBranch}, ` +
            `orderBy: {field: CREATED_AT, direction: DESC}) { nodes { ...facts } }`,
        );
        own.push(`b${index}`);
      }
      for (const number of new Set(lookup.numbers.filter((one) => one > 0 && one <= maxNumber))) {
        fields.push(`n${index}_${number}: pullRequest(number: ${number}) { ...facts }`);
        own.push(`n${index}_${number}`);
      }
      return own;
    });
    const heading = ["$owner: String!", "$name: String!", ...declared].join(", ");
    const query = `query(${heading}) { repository(owner: $owner, name: $name) { nameWithOwner ${fields.join("\n")} } }
${pullRequestFragment}`;
    const answer = await this.#client.graphql(query, variables);
    const repository = repositoryOf(answer);
    for (const [index, lookup] of lookups.entries()) {
      give(
        lookup,
        repository === null
          ? absent
          : await resultOf(async () => known(await this.#factsOf(aliases[index]!, repository, answer.errors))),
      );
    }
  }

  async #factsOf(
    aliases: readonly string[],
    repository: Record<string, unknown>,
    errors: readonly GraphqlError[],
  ): Promise<PullRequestFacts[]> {
    const found = new Map<number, PullRequestFacts>();
    for (const alias of aliases) {
      const error = errors.find((one) => one.path[1] === alias);
      if (error !== undefined) {
        if (isMissing(error) && error.path.length === 2) continue;
        throw new Unanswered(`GitHub reports: ${error.message}.`);
      }
      const value = repository[alias];
      const nodes = alias.startsWith("b") ? shaped(branchNodes, value, "GitHub").nodes : [value];
      for (const node of nodes) {
        const { facts, more } = readPullRequest(node, this.#repo);
        if (found.has(facts.number)) continue;
        found.set(facts.number, facts);
        if (more !== null) await this.#moreChecks(facts, more);
      }
    }
    return [...found.values()].toSorted((a, b) => b.number - a.number);
  }

  async #moreChecks(facts: PullRequestFacts, first: string): Promise<void> {
    const [owner, name] = this.#repo.split("/");
    let after: string | null = first;
    for (let page = 1; after !== null && page < maxCheckPages; page++) {
      const variables = { owner, name, number: facts.number, after };
      const answer = await this.#client.graphql(moreChecksQuery, variables);
      if (answer.errors.length > 0) throw new Unanswered(`GitHub reports: ${answer.errors[0]!.message}.`);
      const { commit } = shaped(checksResponse, answer.data, "GitHub").repository.pullRequest.commits.nodes.at(-1)!;
      const next: Contexts | undefined = commit.statusCheckRollup?.contexts;
      if (next === undefined || commit.oid !== facts.headSha)
        throw new Unanswered("The head changed during the query.");
      facts.checks.push(...readChecks(next));
      after = next.pageInfo.hasNextPage ? next.pageInfo.endCursor : null;
    }
  }
}

function firstOf(result: TrackerResult<PullRequestFacts[]>): TrackerResult<PullRequestFacts> {
  if (result.is !== "known") return result;
  return result.value[0] === undefined ? absent : known(result.value[0]);
}

const listed = z.object({
  number: count,
  state: z.enum(["open", "closed"]),
  updated_at: time,
  merged_at: z.nullable(z.string()),
  head: z.object({ ref: z.string(), sha: commitId }),
});
const branchNodes = z.object({ nodes: z.array(z.unknown()) });
const checksResponse = z.object({ repository: z.object({ pullRequest: z.object({ commits: lastCommit }) }) });

/** Null: it does not exist, or the token cannot access it. Errors without a field concern the complete query. */
export function repositoryOf(answer: GraphqlResponse): Record<string, unknown> | null {
  const general = answer.errors.find((error) => error.path.length < 2);
  if (general !== undefined) {
    if (isMissing(general) && general.path.length === 1) return null;
    throw new Unanswered(`GitHub reports: ${general.message}.`);
  }
  return shaped(z.object({ repository: z.record(z.string(), z.unknown()) }), answer.data, "GitHub").repository;
}

export function isMissing(error: GraphqlError): boolean {
  return error.type === "NOT_FOUND";
}
