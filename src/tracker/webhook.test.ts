import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { TrackerSettings } from "../ports/tracker.ts";
import { webhookOf } from "./webhook.ts";

const secret = "hook-secret";
const github: TrackerSettings = { type: "github", repo: "owner/app", baseUrl: null, tokenEnv: null };
const gitlab: TrackerSettings = { ...github, type: "gitlab", repo: "group/sub/app" };
const repository = { full_name: "Owner/App" };
const project = { path_with_namespace: "group/sub/app" };

function signed(body: unknown): [Record<string, string>, Buffer] {
  const raw = Buffer.from(JSON.stringify(body));
  return [{ "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(raw).digest("hex")}` }, raw];
}

const fromGithub = (body: unknown) => webhookOf(github, ...signed(body), secret);
const fromGitlab = (body: unknown) =>
  webhookOf(gitlab, { "x-gitlab-token": secret }, Buffer.from(JSON.stringify(body)), secret);

describe("[TRACK-11] webhooks", () => {
  test("GitHub's events tell repository, branch and number", () => {
    const repo = "Owner/App";
    expect(fromGithub({ repository, pull_request: { number: 7, head: { ref: "b" } } })).toEqual({
      repo,
      branch: "b",
      number: 7,
    });
    const run = { check_suite: { head_branch: "c" }, pull_requests: [] };
    expect(fromGithub({ repository, check_run: run })).toEqual({ repo, branch: "c", number: null });
    expect(fromGithub({ repository, issue: { number: 3 } })).toEqual({ repo, branch: null, number: 3 });
    expect(fromGithub({ repository, ref: "refs/heads/x/y" })).toEqual({ repo, branch: "x/y", number: null });
    expect(fromGithub({ repository, zen: "…" })).toEqual({ repo, branch: null, number: null });
  });

  test("GitLab's events do too", () => {
    const repo = "group/sub/app";
    const attributes = { iid: 4, source_branch: "b" };
    expect(fromGitlab({ object_kind: "merge_request", project, object_attributes: attributes })).toEqual({
      repo,
      branch: "b",
      number: 4,
    });
    const pipeline = { object_kind: "pipeline", project, object_attributes: { ref: "c" } };
    expect(fromGitlab(pipeline)).toEqual({ repo, branch: "c", number: null });
    expect(fromGitlab({ object_kind: "issue", project, object_attributes: { iid: 9 } })).toEqual({
      repo,
      branch: null,
      number: 9,
    });
  });

  test("nothing counts without the right signature over the very bytes", () => {
    const [headers, raw] = signed({ repository });
    const refused = { refused: "The webhook's signature does not fit the secret." };
    expect(webhookOf(github, {}, raw, secret)).toEqual(refused);
    expect(webhookOf(github, headers, raw, "other")).toEqual(refused);
    expect(webhookOf(github, headers, Buffer.concat([raw, Buffer.from(" ")]), secret)).toEqual(refused);
    expect(webhookOf(github, { "x-gitlab-token": secret }, raw, secret)).toEqual(refused);
    expect(webhookOf(gitlab, { "x-gitlab-token": "x" }, raw, secret)).toEqual(refused);
    expect(webhookOf(gitlab, headers, raw, secret)).toEqual(refused);
    expect(webhookOf(github, headers, raw, "")).toEqual({ refused: "No webhook secret is set." });
  });

  test("another repository's, or no JSON at all, is refused", () => {
    expect(fromGithub({ repository: { full_name: "someone/else" } })).toHaveProperty("refused");
    expect(fromGithub({})).toHaveProperty("refused");
    expect(fromGithub(null)).toHaveProperty("refused");
    expect(fromGithub({ repository, pull_request: { number: "7", head: [] } })).toMatchObject({
      number: null,
      branch: null,
    });
    const raw = Buffer.from("not json");
    expect(webhookOf(gitlab, { "x-gitlab-token": secret }, raw, secret)).toEqual({
      refused: "The webhook's body is not JSON.",
    });
    expect(webhookOf({ ...github, type: "linear" }, {}, raw, secret)).toHaveProperty("refused");
  });
});
