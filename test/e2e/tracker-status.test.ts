import { expect, test } from "vitest";
import { TrackedHome } from "../harness/tracked.ts";

test("[TRACKER-26, TRACKER-32] every status of a pull request, from opening to merge, in the lists", async () => {
  await using home = await TrackedHome.start();
  const { github } = home;
  github.reviewRequired = true;
  const { id, branch, sha } = await home.worked();
  await home.refresh();
  expect(await home.show(id)).toMatchObject({ status: "idle", pullRequest: null });

  const number = github.openPullRequest({ branch, sha, title: "Work", draft: true });
  const after = async (change: () => void): Promise<string> => {
    change();
    await home.refresh();
    return (await home.show(id)).status;
  };
  expect(await after(() => undefined)).toBe("pr_open");
  expect(await after(() => github.setDraft(number, false))).toBe("review_pending");
  expect(await after(() => github.setCheck(number, "lint", "pending"))).toBe("review_pending");
  expect(await after(() => github.setCheck(number, "lint", "failed"))).toBe("ci_failed");
  const url = `${github.url}/owner/app/pull/${number}`;
  expect(await home.show(id)).toMatchObject({
    reason: "failed: lint",
    pullRequest: { url, state: "open", number, title: "Work", checks: { failed: 1, failedNames: ["lint"] } },
    pullRequests: [{ url }],
  });
  expect(await home.ok(["session", "ls"])).toMatch(new RegExp(`${id}  .*\\[ci_failed\\]  ${url}\n`));
  expect(await home.ok(["session", "show", id])).toMatch(/Checks: +0 passed, 0 pending, 1 failed: lint\n/);
  expect(await after(() => github.setCheck(number, "lint", "passed"))).toBe("review_pending");
  expect(await after(() => github.review(number, "changes_requested"))).toBe("changes_requested");
  expect(await after(() => github.setConflict(number, true))).toBe("changes_requested");
  expect(await after(() => github.review(number, "approved"))).toBe("approved");
  expect((await home.show(id)).reason).toBe("conflicts with main");
  expect(await after(() => github.setConflict(number, false))).toBe("mergeable");
  expect(await after(() => github.merge(number))).toBe("merged");
  const seen = (await home.ofType(id, "pull-request.seen")).length;
  await home.refresh();
  expect((await home.ofType(id, "pull-request.seen")).length).toBe(seen);

  // It survives the daemon, and its agent's own exit makes it done.
  await home.crash();
  await home.ok(["start"]);
  await home.status(id, "merged");
  await home.send(id, "exit: 0");
  await home.status(id, "done");
});

test("[TRACKER-30, TRACKER-31, SESSION-55] only a session's own pull requests count, from forks too; claiming moves one from another session", async () => {
  await using home = await TrackedHome.start();
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  // A stranger's fork with a branch of the same name, and an old one that was merged before the session started.
  github.openPullRequest({ branch, repo: "stranger/app" });
  const old = github.openPullRequest({ branch });
  github.merge(old);
  await home.refresh();
  expect((await home.show(id)).pullRequest).toBeNull();
  const fork = github.openPullRequest({ branch, sha, repo: "agent/app" });
  await home.refresh();
  expect((await home.show(id)).pullRequest).toMatchObject({ number: fork });

  const other = await home.worked("other.txt");
  const said = await home.ok(["session", "claim-pr", other.id, `#${fork}`]);
  expect(said).toBe(`Session ${other.id} has ${github.url}/owner/app/pull/${fork}\n`);
  await home.refresh();
  expect((await home.show(other.id)).pullRequest).toMatchObject({ number: fork, claimed: true });
  expect((await home.show(id)).pullRequest).toBeNull();
  const missing = await home.cli(["session", "claim-pr", id, "999"]);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("has no pull request 999") });

  // An agent claims only for itself, and only an unclaimed one.
  const env = { HOLDFAST_SESSION: id };
  const free = String(github.openPullRequest({ branch: "made-by-hand" }));
  expect((await home.cli(["session", "claim-pr", other.id, free], { env })).stderr).toContain(`not for ${other.id}`);
  expect((await home.cli(["session", "claim-pr", id, String(fork)], { env })).stderr).toContain(`${other.id} has`);
  await home.ok(["session", "claim-pr", id, free], { env });
  expect((await home.ofType(id, "pull-request.claimed")).at(-1)).toMatchObject({ by: `session:${id}` });

  // The agent's current branch counts, not the original one.
  await home.git(other.path, ["checkout", "-q", "-b", "another-name"]);
  const second = github.openPullRequest({ branch: "another-name", sha: await home.commit(other.path, "more.txt") });
  await home.refresh();
  expect((await home.show(other.id)).pullRequests?.map((one) => one.number)).toEqual([second, fork]);
});
