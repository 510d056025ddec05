/** The adapter for GitLab, public or self-hosted. */
import * as z from "zod/mini";
import type { TrackerResult, TrackerSettings } from "../../../ports/tracker.ts";
import type { IssueFacts, PullRequestFacts, ReviewThread } from "../../../contract/tracker.ts";
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
import { TrackerHttp } from "../http.ts";
import { logLines, plain, prose, threadText } from "../text.ts";
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
  const webOrigin = new URL(client.webUrl).origin;
  return {
    http,
    host: codeHostOf(settings, {
      title: "GitLab",
      webOrigin,
      kind: "merge_requests",
      open: (repo) => new GitlabMergeRequests(client, repo),
      logTail: async (...given) => await logTail(client, ...given),
      threads: async (one) => await threads(client, one),
      merge: async ({ repo, number, headSha }) =>
        await client.put(repo, `/merge_requests/${number}/merge`, { sha: headSha }),
    }),
    ...issuesOf(settings, {
      webOrigin,
      kinds: ["issues", "work_items"],
      most: issuesPerRequest,
      isRepo: () => true,
      async one(repo, number) {
        const value = await client.get(repo, `/issues/${number}`);
        return value === null ? absent : known(issueFacts(shaped(issueShape, value, "GitLab")));
      },
      async many(iids) {
        const answer = await client.list(settings.repo, "/issues", { "iids[]": iids, scope: "all" });
        const found = shaped(z.array(issueShape), answer?.items ?? [], "GitLab");
        return new Map(found.map((one) => [one.iid, known(issueFacts(one))]));
      },
    }),
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
