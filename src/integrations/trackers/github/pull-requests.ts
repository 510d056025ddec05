/**
 * Many sessions' pull requests in few requests: one conditional request for the list of what was updated last, then one
 * query for up to fifty sessions that may have news.
 */
import * as z from "zod/mini";
import type { TrackerResult, PullRequestQuestion } from "../../../ports/tracker.ts";
import type { PullRequestFacts, CheckFacts, CheckState, ReviewState } from "../../../contract/tracker.ts";
import { absent, commitId, count, known, failureOf, shaped, time, webAddress } from "../result.ts";
import { Unanswered } from "../http.ts";
import { Memory, mustAsk, type Updated } from "../memory.ts";
import type { GithubClient, GraphqlResponse, GraphqlError } from "./client.ts";
import { plain } from "../text.ts";

const contextFields = `pageInfo { hasNextPage endCursor } nodes { __typename
  ... on CheckRun { name status conclusion detailsUrl }
  ... on StatusContext { context state targetUrl } }`;

/** The opinions are asked for because `reviewDecision` is null where the branch requires no review. */
const pullRequestFragment = `fragment facts on PullRequest {
  number url title state isDraft headRefName headRefOid headRepository { nameWithOwner }
  baseRefName baseRepository { nameWithOwner } mergeable mergeStateStatus reviewDecision updatedAt
  mergeCommit { oid }
  latestOpinionatedReviews(first: 30, writersOnly: true) { nodes { state } }
  commits(last: 1) { nodes { commit { oid statusCheckRollup { contexts(first: 100) { ${contextFields} } } } } }
}`;

/** More than a hundred checks on one commit: the rest, page by page. */
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

type Told = z.infer<typeof pullRequest>;

/** `more`: where the remaining checks begin, or null when all are here. */
function readPullRequest(value: unknown, repo: string): { facts: PullRequestFacts; more: string | null } {
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

function readChecks(found: Contexts): CheckFacts[] {
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

/** A query of fifty costs some five points of GitHub's 5000 an hour: it counts the lists that could be in the answer. */
export const questionsPerQuery = 50;
const listLength = 100;
/** GraphQL's whole numbers end here; a larger one would fail the query for all. */
const maxNumber = 2 ** 31 - 1;
/** A branch that was used again, or that a fork has too, has more than one. */
const perBranch = 3;
/** A thousand checks on one commit; beyond that nobody looks. */
const maxCheckPages = 10;

export class GithubPullRequests {
  readonly #client: GithubClient;
  readonly #repo: string;
  readonly #memory = new Memory();

  constructor(client: GithubClient, repo: string) {
    this.#client = client;
    this.#repo = repo;
  }

  async ask(questions: readonly PullRequestQuestion[]): Promise<Map<string, TrackerResult<PullRequestFacts[]>>> {
    const answers = new Map<string, TrackerResult<PullRequestFacts[]>>();
    if (questions.length === 0) return answers;
    try {
      const list = await this.#updated();
      if (list === null) return new Map(questions.map((one) => [one.key, absent]));
      const { now } = this.#client.http.options.account;
      const pending = questions.filter((one) => {
        const remembered = this.#memory.get(one);
        if (list === "everything" || mustAsk(one, remembered, list, now())) return true;
        answers.set(one.key, known(remembered!.facts));
        return false;
      });
      for (let at = 0; at < pending.length; at += questionsPerQuery) {
        await this.#query(pending.slice(at, at + questionsPerQuery), answers);
      }
    } catch (error) {
      const why = failureOf(error);
      for (const one of questions) if (!answers.has(one.key)) answers.set(one.key, why);
    }
    return answers;
  }

  async one(number: number): Promise<TrackerResult<PullRequestFacts>> {
    const answers = new Map<string, TrackerResult<PullRequestFacts[]>>();
    await this.#query([{ key: "one", branch: "", numbers: [number] }], answers);
    const answer = answers.get("one")!;
    if (answer.is !== "known") return answer;
    const facts = answer.value[0];
    return facts === undefined ? absent : known(facts);
  }

  /** Null: the repository is not there for us. */
  async #updated(): Promise<Updated[] | "everything" | null> {
    const [owner, repo] = this.#repo.split("/");
    const route = `GET /repos/{owner}/{repo}/pulls`;
    const order = { state: "all", sort: "updated", direction: "desc", per_page: listLength };
    const { status, data } = await this.#client.rest(route, { owner, repo, ...order });
    if (status === 404) return null;
    if (status !== 200) {
      throw new Unanswered(`GitHub does not list pull requests: status ${status}, ${this.#client.said(data)}.`);
    }
    const list = shaped(z.array(listed), data, "GitHub").map((one): Updated => ({
      number: one.number,
      branch: one.head.ref,
      headSha: one.head.sha,
      state: one.state === "open" ? "open" : one.merged_at === null ? "closed" : "merged",
      updatedAt: Date.parse(one.updated_at),
    }));
    return this.#memory.overflowed(list, list.length < listLength) ? "everything" : list;
  }

  async #query(
    questions: readonly PullRequestQuestion[],
    answers: Map<string, TrackerResult<PullRequestFacts[]>>,
  ): Promise<void> {
    const [owner, name] = this.#repo.split("/");
    const variables: Record<string, unknown> = { owner, name };
    const declared: string[] = [];
    const fields: string[] = [];
    const aliases = questions.map((question, index) => {
      const own: string[] = [];
      if (question.branch !== "") {
        variables[`b${index}`] = question.branch;
        declared.push(`$b${index}: String!`);
        fields.push(
          `b${index}: pullRequests(headRefName: $b${index}, first: ${perBranch}, ` +
            `orderBy: {field: CREATED_AT, direction: DESC}) { nodes { ...facts } }`,
        );
        own.push(`b${index}`);
      }
      for (const number of new Set(question.numbers.filter((one) => one > 0 && one <= maxNumber))) {
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
    const { now } = this.#client.http.options.account;
    for (const [index, question] of questions.entries()) {
      if (repository === null) {
        answers.set(question.key, absent);
        continue;
      }
      try {
        const facts = await this.#factsOf(aliases[index]!, repository, answer.errors);
        this.#memory.put(question, facts, now());
        answers.set(question.key, known(facts));
      } catch (error) {
        answers.set(question.key, failureOf(error));
      }
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
        throw new Unanswered(`GitHub says: ${error.message}.`);
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
      if (answer.errors.length > 0) throw new Unanswered(`GitHub says: ${answer.errors[0]!.message}.`);
      const { commit } = shaped(checksAnswer, answer.data, "GitHub").repository.pullRequest.commits.nodes.at(-1)!;
      const next: Contexts | undefined = commit.statusCheckRollup?.contexts;
      if (next === undefined || commit.oid !== facts.headSha) throw new Unanswered("The head moved while it was read.");
      facts.checks.push(...readChecks(next));
      after = next.pageInfo.hasNextPage ? next.pageInfo.endCursor : null;
    }
  }
}

const listed = z.object({
  number: count,
  state: z.enum(["open", "closed"]),
  updated_at: time,
  merged_at: z.nullable(z.string()),
  head: z.object({ ref: z.string(), sha: commitId }),
});
const branchNodes = z.object({ nodes: z.array(z.unknown()) });
const checksAnswer = z.object({ repository: z.object({ pullRequest: z.object({ commits: lastCommit }) }) });

/** Null: not there, or not for us. Errors that concern no one field in particular concern all. */
export function repositoryOf(answer: GraphqlResponse): Record<string, unknown> | null {
  const general = answer.errors.find((error) => error.path.length < 2);
  if (general !== undefined) {
    if (isMissing(general) && general.path.length === 1) return null;
    throw new Unanswered(`GitHub says: ${general.message}.`);
  }
  return shaped(z.object({ repository: z.record(z.string(), z.unknown()) }), answer.data, "GitHub").repository;
}

export function isMissing(error: GraphqlError): boolean {
  return error.type === "NOT_FOUND";
}
