/** The adapter for GitLab, public or self-hosted. */
import * as z from "zod/mini";
import type { TrackerResult, CodeHost, TrackerSettings } from "../../../ports/tracker.ts";
import type { IssueFacts, PullRequestFacts, ReviewThread } from "../../../contract/tracker.ts";
import type { Account } from "../account.ts";
import {
  absent,
  resultOf,
  count,
  known,
  failureOf,
  shaped,
  webAddress,
  type Bounds,
  type OpenedTracker,
} from "../result.ts";
import { TrackerHttp } from "../http.ts";
import { readReference, sameRepo, logLines, plain, prose, threadText } from "../text.ts";
import { GitlabClient, readGitlabLimit } from "./client.ts";
import { GitlabMergeRequests } from "./merge-requests.ts";

const issuesPerRequest = 100;
const logTailBytes = 512 * 1024;

export function openGitlab(settings: TrackerSettings, account: Account, bounds: Bounds): OpenedTracker {
  const http = new TrackerHttp({
    name: "GitLab",
    account,
    readLimit: readGitlabLimit,
    remainingHeader: "ratelimit-remaining",
    ...bounds,
  });
  const client = new GitlabClient(settings, account, http);
  const origin = new URL(client.webUrl).origin;
  const mergeRequests = new GitlabMergeRequests(client, settings.repo);
  const host: CodeHost = {
    pullRequests: async (questions) => await mergeRequests.ask(questions),
    async pullRequest(reference) {
      const found = readReference(reference, origin, ["merge_requests"]);
      if (found === null || found.number < 1) return absent;
      const elsewhere = found.repo !== null && !sameRepo(found.repo, settings.repo);
      const from = elsewhere ? new GitlabMergeRequests(client, found.repo!) : mergeRequests;
      return await resultOf(async () => await from.one(found.number));
    },
    logTail: async (one, check, lines) => await resultOf(async () => await logTail(client, one, check, lines)),
    threads: async (one) => await resultOf(async () => await threads(client, one)),
    async merge(one) {
      try {
        const body = { sha: one.headSha };
        const { status, message } = await client.put(one.repo, `/merge_requests/${one.number}/merge`, body);
        if (status === 200) return { merged: true };
        if (status === 409) return { merged: false, why: `It changed since the last check: ${message}.` };
        if (status === 404) return { merged: false, why: "The token cannot merge it, or it no longer exists." };
        return { merged: false, why: `GitLab refused the merge: ${message}.` };
      } catch (error) {
        // It may have been merged anyway; the next poll shows it.
        return { merged: false, why: failureOf(error).why };
      }
    },
  };
  const read = (text: string): { repo: string; number: number } | null => {
    const found = readReference(text, origin, ["issues", "work_items"]);
    return found === null || found.number < 1 ? null : { repo: found.repo ?? settings.repo, number: found.number };
  };
  const issue = async (text: string): Promise<TrackerResult<IssueFacts>> => {
    const found = read(text);
    if (found === null) return absent;
    return await resultOf(async () => {
      const value = await client.get(found.repo, `/issues/${found.number}`);
      return value === null ? absent : known(issueFacts(shaped(issueShape, value, "GitLab")));
    });
  };
  return {
    settings,
    host,
    issue,
    async issues(references) {
      const answers = new Map<string, TrackerResult<IssueFacts>>();
      const wanted: { text: string; number: number }[] = [];
      for (const text of references) {
        const found = read(text);
        if (found === null) answers.set(text, absent);
        else if (!sameRepo(found.repo, settings.repo)) answers.set(text, await issue(text));
        else wanted.push({ text, number: found.number });
      }
      const numbers = [...new Set(wanted.map((one) => one.number))].toSorted((a, b) => a - b);
      for (let at = 0; at < numbers.length; at += issuesPerRequest) {
        const part = numbers.slice(at, at + issuesPerRequest);
        const found = await resultOf(async () => await someIssues(client, settings.repo, part));
        for (const { text, number } of wanted) {
          if (!part.includes(number)) continue;
          const facts = found.is === "known" ? found.value.get(number) : undefined;
          answers.set(text, found.is === "unknown" ? found : facts === undefined ? absent : known(facts));
        }
      }
      return answers;
    },
    counts: () => ({ requests: http.requests, notModified: http.notModified }),
    close: () => http.close(),
  };
}

const issueShape = z.object({
  iid: count,
  title: z.string(),
  description: z.nullable(z.string()),
  state: z.enum(["opened", "closed"]),
  labels: z.array(z.string()),
  web_url: webAddress,
});

async function someIssues(
  client: GitlabClient,
  repo: string,
  iids: readonly number[],
): Promise<TrackerResult<Map<number, IssueFacts>>> {
  const answer = await client.list(repo, "/issues", { "iids[]": iids, scope: "all" });
  if (answer === null) return absent;
  const found = shaped(z.array(issueShape), answer.items, "GitLab");
  return known(new Map(found.map((one) => [one.iid, issueFacts(one)])));
}

function issueFacts(node: z.infer<typeof issueShape>): IssueFacts {
  return {
    key: String(node.iid),
    url: node.web_url,
    title: plain(node.title),
    body: prose(node.description ?? ""),
    state: node.state === "opened" ? "open" : "closed",
    labels: node.labels.map((label) => plain(label)),
  };
}

async function logTail(
  client: GitlabClient,
  mergeRequest: PullRequestFacts,
  check: string,
  lines: number,
): Promise<TrackerResult<string[]>> {
  const url = mergeRequest.checks.find((one) => one.name === check)?.url ?? "";
  // The job may belong to a fork; its address shows which.
  const parts = /^(.*?)\/-\/jobs\/(\d+)/.exec(
    url.startsWith(`${client.webUrl}/`) ? url.slice(client.webUrl.length + 1) : "",
  );
  if (parts === null) return absent;
  const text = await client.tail(decodeURIComponent(parts[1]!), `/jobs/${parts[2]}/trace`, logTailBytes);
  return text === null ? absent : known(logLines(text, lines));
}

const discussions = z.array(
  z.object({
    id: z.string(),
    notes: z.array(
      z.object({
        id: count,
        body: z.string(),
        author: z.nullish(z.object({ id: count, username: z.string() })),
        system: z.boolean(),
        resolvable: z.optional(z.boolean()),
        resolved: z.optional(z.boolean()),
        position: z.nullish(
          z.object({
            new_path: z.nullish(z.string()),
            new_line: z.nullish(z.int()),
            old_line: z.nullish(z.int()),
          }),
        ),
      }),
    ),
  }),
);

const member = z.object({ access_level: z.int() });
/** Reporter: the lowest role with access to the code. */
const leastAccess = 20;

/** Anyone can comment on a public merge request, and these comments are sent to an agent. */
async function isMember(client: GitlabClient, repo: string, user: number): Promise<boolean> {
  const answer = await client.get(repo, `/members/all/${user}`);
  return answer !== null && shaped(member, answer, "GitLab").access_level >= leastAccess;
}

/** Comments that cannot be resolved are discussion, not review. */
async function threads(client: GitlabClient, mergeRequest: PullRequestFacts): Promise<TrackerResult<ReviewThread[]>> {
  const answer = await client.list(mergeRequest.repo, `/merge_requests/${mergeRequest.number}/discussions`, {});
  if (answer === null) return absent;
  const found: ReviewThread[] = [];
  const members = new Map<number, Promise<boolean>>();
  const isTrusted = (user: number): Promise<boolean> => {
    const known = members.get(user) ?? isMember(client, mergeRequest.repo, user);
    members.set(user, known);
    return known;
  };
  for (const { id, notes } of shaped(discussions, answer.items, "GitLab")) {
    const review = notes.filter((note) => !note.system && note.resolvable === true);
    const may = await Promise.all(review.map(async ({ author }) => author != null && (await isTrusted(author.id))));
    const comments = review.filter((_, at) => may[at]);
    const first = comments[0];
    if (first === undefined) continue;
    const path = first.position?.new_path ?? null;
    found.push({
      id,
      path: path === null ? null : plain(path),
      line: first.position?.new_line ?? first.position?.old_line ?? null,
      ...threadText(comments.map((note) => ({ author: note.author?.username ?? "ghost", body: note.body }))),
      url: `${mergeRequest.url}#note_${first.id}`,
      resolved: comments.every((note) => note.resolved === true),
    });
  }
  return known(found);
}
