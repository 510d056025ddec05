/** The adapter for GitHub, public or Enterprise. */
import type { TrackerSettings, TrackerResult } from "../../../ports/tracker.ts";
import type { Account } from "../account.ts";
import {
  absent,
  codeHostOf,
  count,
  issuesOf,
  known,
  shaped,
  webAddress,
  type Bounds,
  type OpenedTracker,
} from "../result.ts";
import { TrackerHttp, Unanswered } from "../http.ts";
import { logLines, plain, prose, threadText } from "../text.ts";
import { GithubClient, readGithubLimit } from "./client.ts";
import { GithubIssues } from "./issues.ts";
import { GithubPullRequests, repositoryOf } from "./pull-requests.ts";
import * as z from "zod/mini";
import type { PullRequestFacts, ReviewThread } from "../../../contract/tracker.ts";

/** Far more than the lines that are sent to an agent. */
const logTailBytes = 512 * 1024;
const maxThreadPages = 5;

async function logTail(
  client: GithubClient,
  pullRequest: PullRequestFacts,
  check: string,
  lines: number,
): Promise<TrackerResult<string[]>> {
  const url = pullRequest.checks.find((one) => one.name === check)?.url ?? "";
  // The address of a job of GitHub Actions ends with the job's id.
  const inAddress = /\/job\/(\d+)(?:$|[?#/])/.exec(url)?.[1];
  const job = inAddress ?? (await findRun(client, pullRequest, check));
  if (job === null) return absent;
  if (Array.isArray(job)) return known(job.slice(-lines));
  const answer = await client.tail(`/repos/${pullRequest.repo}/actions/jobs/${job}/logs`, logTailBytes);
  // 410: logs are deleted after a while.
  if (answer.status === 404 || answer.status === 410) return absent;
  if (answer.status !== 200)
    throw new Unanswered(`GitHub does not give the log of ${plain(check)}: status ${answer.status}.`);
  return known(logLines(answer.text, lines));
}

const checkRuns = z.object({
  check_runs: z.array(
    z.object({
      id: count,
      app: z.nullish(z.object({ slug: z.optional(z.string()) })),
      output: z.nullish(z.object({ summary: z.nullish(z.string()), text: z.nullish(z.string()) })),
    }),
  ),
});

/** The id of the job, or the output of another service's check. */
async function findRun(
  client: GithubClient,
  pullRequest: PullRequestFacts,
  check: string,
): Promise<string | string[] | null> {
  const [owner, repo] = pullRequest.repo.split("/");
  const parameters = { owner, repo, ref: pullRequest.headSha, check_name: check, per_page: 1 };
  const route = "GET /repos/{owner}/{repo}/commits/{ref}/check-runs";
  const data = await client.get(route, parameters, "list the checks");
  if (data === null) return null;
  const found = shaped(checkRuns, data, "GitHub").check_runs[0];
  if (found === undefined) return null;
  if (found.app?.slug === "github-actions") return String(found.id);
  const text = [found.output?.summary, found.output?.text].filter((part) => typeof part === "string").join("\n");
  return text.trim() === "" ? null : logLines(text, Infinity);
}

const threadsQuery = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    latestOpinionatedReviews(first: 30, writersOnly: true) { nodes { id state body url author { login } } }
    reviewThreads(first: 50, after: $after) { pageInfo { hasNextPage endCursor } nodes {
      id isResolved path line originalLine comments(first: 20) { nodes { body url authorAssociation author { login } } } } }
  } }
}`;

/** Users with write access or an invitation to the repository. */
const writers = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);

const author = z.nullable(z.object({ login: z.string() }));
const threadsResponse = z.object({
  latestOpinionatedReviews: z.nullable(
    z.object({
      nodes: z.array(z.object({ id: z.string(), state: z.string(), body: z.string(), url: webAddress, author })),
    }),
  ),
  reviewThreads: z.object({
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.nullable(z.string()) }),
    nodes: z.array(
      z.object({
        id: z.string(),
        isResolved: z.boolean(),
        path: z.nullable(z.string()),
        line: z.nullable(z.int()),
        originalLine: z.nullable(z.int()),
        comments: z.object({
          nodes: z.array(z.object({ body: z.string(), url: webAddress, authorAssociation: z.string(), author })),
        }),
      }),
    ),
  }),
});

/** Includes the summary of a review that requests changes: often it has no threads. */
async function threads(client: GithubClient, pullRequest: PullRequestFacts): Promise<TrackerResult<ReviewThread[]>> {
  const [owner, name] = pullRequest.repo.split("/");
  const found: ReviewThread[] = [];
  let after: string | null = null;
  for (let page = 0; page < maxThreadPages; page++) {
    const answer = await client.graphql(threadsQuery, { owner, name, number: pullRequest.number, after });
    const missing = answer.errors.some((error) => error.type === "NOT_FOUND");
    if (missing) return absent;
    if (answer.errors.length > 0) throw new Unanswered(`GitHub reports: ${answer.errors[0]!.message}.`);
    const node: z.infer<typeof threadsResponse> = shaped(
      threadsResponse,
      repositoryOf(answer)?.["pullRequest"],
      "GitHub",
    );
    if (page === 0) {
      for (const review of node.latestOpinionatedReviews?.nodes ?? []) {
        if (review.state !== "CHANGES_REQUESTED" || review.body.trim() === "") continue;
        const { id, url } = review;
        const who = plain(review.author?.login ?? "ghost");
        found.push({ id, path: null, line: null, author: who, body: prose(review.body), url, resolved: false });
      }
    }
    for (const thread of node.reviewThreads.nodes) {
      // Anyone can comment on a public pull request, and these comments are sent to an agent.
      const written = thread.comments.nodes.filter((one) => writers.has(one.authorAssociation));
      const comments = written.map((one) => ({ author: one.author?.login ?? "ghost", body: one.body }));
      const url = written[0]?.url;
      if (url === undefined) continue;
      found.push({
        id: thread.id,
        path: thread.path === null ? null : plain(thread.path),
        line: thread.line ?? thread.originalLine,
        ...threadText(comments),
        url,
        resolved: thread.isResolved,
      });
    }
    if (!node.reviewThreads.pageInfo.hasNextPage) break;
    after = node.reviewThreads.pageInfo.endCursor;
  }
  return known(found);
}

const mergeMethods = z.object({
  allow_merge_commit: z.optional(z.boolean()),
  allow_squash_merge: z.optional(z.boolean()),
  allow_rebase_merge: z.optional(z.boolean()),
});

async function merge(
  client: GithubClient,
  pullRequest: PullRequestFacts,
): Promise<{ status: number; message: string }> {
  const [owner, repo] = pullRequest.repo.split("/");
  const about = await client.rest("GET /repos/{owner}/{repo}", { owner, repo });
  if (about.status !== 200) throw new Unanswered(`GitHub does not show ${pullRequest.repo}.`);
  const allowed = shaped(mergeMethods, about.data, "GitHub");
  const method =
    allowed.allow_merge_commit !== false ? "merge" : allowed.allow_squash_merge !== false ? "squash" : "rebase";
  const route = "PUT /repos/{owner}/{repo}/pulls/{number}/merge";
  const parameters = { owner, repo, number: pullRequest.number, sha: pullRequest.headSha, merge_method: method };
  const { status, data } = await client.rest(route, parameters);
  const isRefused = status === 200 && (data as { merged?: unknown } | null)?.merged !== true;
  return { status: isRefused ? 0 : status, message: client.messageIn(data) };
}

export function openGithub(settings: TrackerSettings, account: Account, bounds: Bounds): OpenedTracker {
  const http = new TrackerHttp({
    name: "GitHub",
    account,
    readLimit: readGithubLimit,
    remainingHeader: "x-ratelimit-remaining",
    ...bounds,
  });
  const client = new GithubClient(settings, account, http);
  const { webOrigin } = client;
  const issues = new GithubIssues(client, settings.repo);
  const isRepo = (name: string): boolean => name.split("/").length === 2;
  return {
    http,
    host: codeHostOf(settings, {
      title: "GitHub",
      webOrigin,
      kind: "pull",
      open: (repo) => (repo === settings.repo || isRepo(repo) ? new GithubPullRequests(client, repo) : null),
      logTail: async (...given) => await logTail(client, ...given),
      threads: async (one) => await threads(client, one),
      merge: async (one) => await merge(client, one),
    }),
    ...issuesOf(settings, {
      webOrigin,
      kinds: ["issues", "pull"],
      most: Infinity,
      isRepo,
      one: async (...given) => await issues.one(...given),
      many: async (numbers) => await issues.many(numbers),
    }),
  };
}
