import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitlabLoopback } from "../../../../test/trackers/gitlab.ts";
import { openWorld, type World } from "../../../../test/trackers/world.ts";
import { hostContract, known, lookup } from "../contract.fixture.ts";
import { checksOf } from "./merge-requests.ts";

let world: World<GitlabLoopback>;

beforeEach(async () => {
  world = await openWorld("gitlab", "group/app", new GitlabLoopback());
});
afterEach(async () => {
  await world.close();
});

describe("[TRACKER-1, TRACKER-2, TRACKER-3, TRACKER-4, TRACKER-5, TRACKER-6, TRACKER-7, TRUST-11] GitLab is a code host", () => {
  test.each(hostContract)(
    "$title",
    async (one) => {
      await one.run(world);
      expect(world.model.requests).toBeGreaterThan(0);
    },
    60_000,
  );
});

describe("GitLab's own ways", () => {
  test("[TRACKER-19] 200 sessions cost one conditional request while nothing moves", async () => {
    const { model, tracker } = world;
    const lookups = Array.from({ length: 200 }, (_, index) => lookup(`s/app-${index}`));
    for (const { branch } of lookups.slice(0, 150)) model.merge(model.openPullRequest({ branch }));
    const round = async (): Promise<{ requests: number; free: number }> => {
      model.resetCounters();
      const answers = await tracker.host!.pullRequests(lookups);
      expect([...answers.values()].every((answer) => answer.is === "known")).toBe(true);
      return { requests: model.requests, free: model.notModified };
    };
    const first = await round();
    await round();
    const quiet = await round();
    const number = model.openPullRequest({ branch: "s/app-180" });
    model.setCheck(number, "test", "pending");
    const moved = await round();
    const pending = await round();
    console.log("requests for 200 sessions:", JSON.stringify({ first, quiet, moved, pending }));
    // The list is two pages, and each merge request is read once.
    expect(first).toEqual({ requests: 152, free: 0 });
    expect(quiet).toEqual({ requests: 1, free: 1 });
    expect(moved).toEqual({ requests: 4, free: 0 });
    expect(pending).toEqual({ requests: 4, free: 4 });
  }, 60_000);

  test("[TRACKER-20] one that was updated long ago is found by its branch, in a project of subgroups", async () => {
    const { model, trackers, settings } = world;
    model.repo = "group/sub/app";
    const old = model.openPullRequest({ branch: "s/old" });
    for (let one = 0; one < 520; one++) model.openPullRequest({ branch: `other-${one}` });
    const tracker = trackers.for({ ...settings, repo: "group/sub/app" });
    const answers = await tracker.host!.pullRequests([lookup("s/old"), lookup("s/none")]);
    expect(known(answers.get("s/old")!)[0]).toMatchObject({ number: old, repo: "group/sub/app" });
    expect(known(answers.get("s/none")!)).toEqual([]);
    expect(model.seen[0]!.path).toContain("/projects/group%2Fsub%2Fapp/");
  });

  test("[TRACKER-21] jobs that may fail do not count, and the pipeline speaks where no job does", () => {
    const job = (name: string, status: string, allow_failure = false) => ({
      name,
      status,
      allow_failure,
      web_url: null,
    });
    const told = (status: string, ...found: ReturnType<typeof job>[]) =>
      checksOf({ id: 1, status, web_url: "https://h.invalid/p/1" }, found).map(
        (check) => `${check.name} ${check.state}`,
      );
    expect(told("success", job("a", "success"), job("b", "failed", true))).toEqual(["a passed", "b skipped"]);
    expect(told("failed", job("a", "success"))).toEqual(["a passed", "pipeline failed"]);
    expect(told("running", job("a", "success"), job("b", "manual"))).toEqual([
      "a passed",
      "b skipped",
      "pipeline pending",
    ]);
    expect(told("canceled", job("a", "canceled"))).toEqual(["a failed"]);
    expect(told("success")).toEqual(["pipeline passed"]);
  });

  test("[TRACKER-21] a fork's jobs and logs are read in the fork", async () => {
    const { model, tracker } = world;
    const number = model.openPullRequest({ branch: "b", repo: "someone/app" });
    model.setCheck(number, "test", "failed", { log: "forked" });
    const [one] = known((await tracker.host!.pullRequests([lookup("b")])).get("b")!);
    expect(one).toMatchObject({ headRepo: "someone/app", checks: [{ name: "test", state: "failed" }] });
    expect(known(await tracker.host!.logTail(one!, "test", 5))).toEqual(["forked"]);
    expect(model.seen.at(-1)!.path).toMatch(/projects\/someone%2Fapp\/jobs/);
  });
});
