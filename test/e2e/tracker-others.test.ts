/** GitLab and Linear, with the real daemon and the demo agent: what differs from GitHub, and that the rest does not. */
import { expect, test } from "vitest";
import { HostedHome } from "../harness/tracked.ts";
import { GitlabLoopback } from "../trackers/gitlab.ts";
import { LinearLoopback } from "../trackers/linear.ts";

const demo = ["--agent", "demo", "--kind", "chat"];
const gitlabHome = (reactions = {}) =>
  new HostedHome(new GitlabLoopback("group/sub/app"), { type: "gitlab", repo: "group/sub/app" }).open({ reactions });

test("[TRACKER-43, TRACKER-26, TRACKER-30, REACTION-11] GitLab: from an issue through every status of its merge request to its merge", async () => {
  const send = { action: "send-to-agent" };
  await using home = await gitlabHome({ "ci-failed": send, "changes-requested": send });
  const gitlab = home.host;
  gitlab.reviewRequired = true;
  const issue = gitlab.openIssue({ title: "UI update", body: "say: I read it" });
  const session = await home.json(["spawn", "my-app", String(issue), ...demo]);
  const { id, workspacePath: path, branch } = session;
  expect(session).toMatchObject({ id: `ma-${issue}`, branch: `${issue}-ui-update`, issueFacts: { state: "open" } });
  await home.says(id, "I read it");
  await home.ended(id);
  const sha = await home.commit(path, "work.txt");
  expect(await home.git(home.remote, ["rev-parse", branch!])).toBe(sha);

  // From a fork; a stranger's fork has a branch of that name too.
  gitlab.openPullRequest({ branch: branch!, repo: "stranger/app" });
  const number = gitlab.openPullRequest({ branch: branch!, sha, repo: "agent/app", draft: true });
  const after = async (change: () => void): Promise<string> => {
    change();
    await home.refresh();
    return (await home.show(id)).status;
  };
  expect(await after(() => undefined)).toBe("pr_open");
  const url = `${gitlab.url}/group/sub/app/-/merge_requests/${number}`;
  expect(await home.ok(["session", "ls"])).toMatch(new RegExp(`${id}  .*\\[pr_open\\]  ${url}\n`));
  expect(await after(() => gitlab.setDraft(number, false))).toBe("review_pending");
  expect(await after(() => gitlab.setCheck(number, "unit", "pending"))).toBe("review_pending");

  gitlab.setCheck(number, "unit", "failed", { log: "expected 1 to be 2\nFAIL" });
  await home.refresh();
  await home.ended(id, 2);
  await home.status(id, "ci_failed");
  const told = async (): Promise<unknown> => (await home.ofType(id, "prompt.admitted")).at(-1)?.["text"];
  expect(await told()).toContain("```failed checks\n- unit\n```\n```log tail: unit\nexpected 1 to be 2\nFAIL\n```");
  expect(await after(() => gitlab.setCheck(number, "unit", "passed"))).toBe("review_pending");

  gitlab.addThread(number, { path: "work.txt", line: 1, author: "reviewer", body: "Not enough." });
  gitlab.review(number, "changes_requested");
  await home.refresh();
  await home.ended(id, 3);
  await home.status(id, "changes_requested");
  expect(await told()).toContain("```reviewer on work.txt:1\nNot enough.");
  gitlab.setConflict(number, true);
  expect(await after(() => gitlab.review(number, "approved"))).toBe("approved");
  expect(await after(() => gitlab.setConflict(number, false))).toBe("mergeable");
  expect(await after(() => gitlab.merge(number))).toBe("merged");
});

test("[TRACKER-46, TRACKER-31, TRACKER-36, REACTION-12] GitLab: a merge request is not an issue, is claimed, merged, and cleaned up", async () => {
  await using home = await gitlabHome({ "approved-and-green": { action: "merge" } });
  const gitlab = home.host;
  const { id, branch, sha } = await home.worked();
  const number = gitlab.openPullRequest({ branch: "by-hand", sha, title: "By hand" });
  const url = `${gitlab.url}/group/sub/app/-/merge_requests/${number}`;
  for (const reference of [url, `!${number}`]) {
    const refused = await home.cli(["spawn", "my-app", reference, ...demo]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`${url} (By hand) is a merge request, not an issue.`);
    expect(refused.stderr).toContain("holdfast spawn my-app --branch by-hand --prompt");
    expect(refused.stderr).toContain(`holdfast session claim-pr <session> ${number}`);
  }
  expect(await home.listed()).toEqual([id]);
  expect(await home.ok(["session", "claim-pr", id, url])).toBe(`Session ${id} has ${url}\n`);
  await home.refresh();
  expect((await home.show(id)).pullRequest).toMatchObject({ number, claimed: true, state: "open" });

  gitlab.onMerge = () => sha;
  gitlab.setCheck(number, "unit", "passed");
  gitlab.review(number, "approved");
  await home.refresh();
  expect(gitlab.pull(number).state).toBe("merged");
  // Unmerged work is listed and kept.
  const { workspacePath: path } = await home.show(id);
  await home.commit(path, "late.txt", false);
  expect(branch).toBe(await home.git(path, ["branch", "--show-current"]));
  const done = await home.ok(["session", "cleanup"]);
  expect(done).toMatch(
    new RegExp(`  Cleaned: ${id}\n    1 commit that was not merged:\n      [0-9a-f]+ add late.txt\n`),
  );
  expect((await home.show(id)).status).toBe("killed");
});

test("[TRACKER-43, TRACKER-44, TRACKER-36] Linear: an issue by key, number and URL; closing it completes its session", async () => {
  await using home = await new HostedHome(new LinearLoopback(), { type: "linear", repo: "INT" }).open();
  const linear = home.host;
  linear.openIssue({ number: 1234, title: "UI update", description: "say: I read it" });
  const session = await home.json(["spawn", "my-app", "int-1234", ...demo]);
  expect(session).toMatchObject({
    id: "ma-int-1234",
    title: "UI update",
    branch: "int-1234-ui-update",
    issue: "INT-1234",
    issueFacts: { state: "open", url: "https://linear.app/space/issue/INT-1234/slug" },
  });
  await home.says(session.id, "I read it");
  const address = "https://linear.app/space/issue/INT-1234/slug";
  for (const name of ["1234", address]) {
    expect((await home.json(["spawn", "my-app", name, "--resume"])).id).toBe(session.id);
  }
  linear.openIssue({ number: 1235, title: "Another" });
  const second = await home.json(["spawn", "my-app", "https://linear.app/space/issue/INT-1235/slug", ...demo]);
  expect(second).toMatchObject({ id: "ma-int-1235", issue: "INT-1235" });
  const missing = await home.cli(["spawn", "my-app", "INT-9", ...demo]);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("INT has no issue INT-9") });
  const nowhere = await home.cli(["session", "claim-pr", session.id, "1"]);
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining("linear has no pull requests") });

  linear.setState("INT-1234", "completed");
  linear.fail({ how: "limit", resetInSeconds: 60 }, { times: 1 });
  expect(await home.ok(["session", "cleanup", "--dry-run"])).toContain(
    `  Skipped: ${session.id} (could not check whether its issue is closed)\n`,
  );
  expect(await home.refresh()).toMatchObject([{ type: "linear", state: "resting", restsUntil: expect.any(String) }]);
  home.clockAhead(61_000);
  const done = await home.ok(["session", "cleanup"]);
  expect(done).toContain(`  Cleaned: ${session.id}\n  Skipped: ${second.id} (its issue is open)\n`);
});
