/** GitHub, public or Enterprise, behind the port: facts only. */
import type { CodeHost, TrackerSettings } from "../../../ports/tracker.ts";
import type { Account } from "../account.ts";
import { absent, asked, notSaid } from "../asked.ts";
import { Lane } from "../http.ts";
import type { Bounds, OpenedTracker } from "../opened.ts";
import { readReference, sameRepo } from "../reference.ts";
import { GithubClient, readGithubLimit } from "./client.ts";
import { logTail, merge, threads } from "./details.ts";
import { GithubIssues } from "./issues.ts";
import { GithubPullRequests } from "./pull-requests.ts";

export function openGithub(settings: TrackerSettings, account: Account, bounds: Bounds): OpenedTracker {
  const lane = new Lane({
    name: "GitHub",
    limits: account.limits,
    now: account.now,
    readLimit: readGithubLimit,
    remainingHeader: "x-ratelimit-remaining",
    secret: () => account.secret,
    refused: () => account.forget(),
    ...bounds,
  });
  const client = new GithubClient(settings, account, lane);
  const issues = new GithubIssues(client, settings.repo);
  const pullRequests = new GithubPullRequests(client, settings.repo);
  const host: CodeHost = {
    pullRequests: async (questions) => await pullRequests.ask(questions),
    async pullRequest(reference) {
      const found = readReference(reference, client.webOrigin, ["pull"]);
      if (found === null || found.number < 1) return absent;
      // Claimed from elsewhere, such as the repository this one was forked from.
      const at = found.repo === null || sameRepo(found.repo, settings.repo) ? null : found.repo;
      if (at !== null && at.split("/").length !== 2) return absent;
      const from = at === null ? pullRequests : new GithubPullRequests(client, at);
      return await asked(async () => await from.one(found.number));
    },
    logTail: async (one, check, lines) => await asked(async () => await logTail(client, one, check, lines)),
    threads: async (one) => await asked(async () => await threads(client, one)),
    async merge(one) {
      try {
        return await merge(client, one);
      } catch (error) {
        // It may have happened all the same; the next look at it tells.
        return { merged: false, why: notSaid(error).why };
      }
    },
  };
  return {
    settings,
    host,
    issue: async (reference) => await issues.one(reference),
    issues: async (references) => await issues.many(references),
    counts: () => ({ requests: lane.requests, notModified: lane.notModified }),
    close: () => lane.close(),
  };
}
