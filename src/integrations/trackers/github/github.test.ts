import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GithubLoopback } from "../../../../test/trackers/github.ts";
import { openWorld, type World } from "../../../../test/trackers/world.ts";
import { hostContract, known, lookup } from "../contract.fixture.ts";

let world: World<GithubLoopback>;

beforeEach(async () => {
  world = await openWorld("github", "owner/app", new GithubLoopback());
});
afterEach(async () => {
  await world.close();
});

describe("[TRACKER-1, TRACKER-2, TRACKER-3, TRACKER-4, TRACKER-5, TRACKER-6, TRACKER-7, TRUST-11] GitHub is a code host", () => {
  test.each(hostContract)(
    "$title",
    async (one) => {
      await one.run(world);
      expect(world.model.requests).toBeGreaterThan(0);
    },
    60_000,
  );
});

describe("GitHub's own ways", () => {
  test("[TRACKER-46] a pull request that is returned as an issue is recognized", async () => {
    const { model, tracker } = world;
    const pull = model.openPullRequest({ branch: "b" });
    expect(known(await tracker.issue(String(pull)))).toMatchObject({ key: String(pull), isPullRequest: true });
    expect(known(await tracker.issue(String(model.openIssue())))).not.toHaveProperty("isPullRequest");
  });

  test("[TRACKER-12] 200 sessions are polled within five requests, and for one 304 when nothing moved", async () => {
    const { model, tracker, advance } = world;
    const lookups = Array.from({ length: 200 }, (_, index) => lookup(`s/app-${index}`));
    for (const { branch } of lookups.slice(0, 150)) {
      const number = model.openPullRequest({ branch });
      model.setCheck(number, "test", "passed");
    }
    const round = async (): Promise<{ requests: number; free: number; found: number }> => {
      model.resetCounters();
      const answers = await tracker.host!.pullRequests(lookups);
      const found = [...answers.values()].filter((answer) => known(answer).length > 0).length;
      return { requests: model.requests, free: model.notModified, found };
    };
    const first = await round();
    const quiet = await round();
    model.setCheck(1, "test", "failed");
    const number = model.openPullRequest({ branch: "s/app-180" });
    const moved = await round();
    advance(61_000);
    const aged = await round();
    for (let one = 1; one <= 150; one++) model.setCheck(one, "test", "pending");
    advance(61_000);
    await round();
    const pending = await round();
    console.log("requests for 200 sessions:", JSON.stringify({ first, quiet, moved, aged, pending }));
    expect(first).toEqual({ requests: 5, free: 0, found: 150 });
    expect(quiet).toEqual({ requests: 1, free: 1, found: 150 });
    expect(moved).toEqual({ requests: 2, free: 0, found: 151 });
    expect(aged).toEqual({ requests: 5, free: 1, found: 151 });
    expect(pending).toEqual({ requests: 5, free: 1, found: 151 });
    expect(number).toBe(151);
    expect(tracker.budget().requests).toBeLessThanOrEqual(6 * 5);
    expect(tracker.budget().notModified).toBe(4);
  }, 60_000);

  test("[TRACKER-13] a failing field concerns its own session alone", async () => {
    const { model, tracker } = world;
    const broken = model.openPullRequest({ branch: "s/1" });
    const whole = model.openPullRequest({ branch: "s/2" });
    model.brokenNumbers.add(broken);
    const answers = await tracker.host!.pullRequests([lookup("s/1"), lookup("s/2"), lookup("s/3", [whole, 999])]);
    expect(answers.get("s/1")).toEqual({
      is: "unknown",
      why: "GitHub reports: Something went wrong while executing your query.",
      retryAt: null,
    });
    expect(known(answers.get("s/2")!)[0]?.number).toBe(whole);
    expect(known(answers.get("s/3")!)[0]?.number).toBe(whole);
    model.brokenNumbers.add(model.openIssue());
    const issues = await tracker.issues(["3", String(whole)]);
    expect([issues.get("3")?.is, issues.get(String(whole))?.is]).toEqual(["unknown", "known"]);
    const i1 = {
      number: 1,
      url: "https://h.invalid/1",
      title: "",
      body: "",
      updatedAt: "2026-01-01T00:00:00Z",
      labels: null,
    };
    model.fail({ how: "wrong-shape", body: { data: { repository: { i1 } } } }, { match: /graphql/ });
    expect((await tracker.issues(["1"])).get("1")).toMatchObject({ why: "GitHub did not return the issue's state." });
  });

  test("[TRACKER-14] the host that keeps the logs never sees the token", async () => {
    const { model, tracker, secret } = world;
    const elsewhere = await new GithubLoopback().listen();
    try {
      model.logHost = elsewhere.url;
      const number = model.openPullRequest({ branch: "b" });
      model.setCheck(number, "test", "failed", { log: "here" });
      // The same check lives there, under the same id.
      elsewhere.pullRequestsByNumber.set(number, model.pull(number));
      const [one] = known((await tracker.host!.pullRequests([lookup("b")])).get("b")!);
      expect(known(await tracker.host!.logTail(one!, "test", 5))).toEqual(["here"]);
      expect(elsewhere.seen).toHaveLength(1);
      expect(JSON.stringify(elsewhere.seen[0]!.headers)).not.toContain(secret);
      const nameless = { ...one!, checks: [{ name: "test", state: "failed" as const, url: null }] };
      expect(known(await tracker.host!.logTail(nameless, "test", 5))).toEqual(["here"]);
      // Anything else that leads away is not followed at all.
      const moved = { status: 301, headers: { location: `${elsewhere.url}/api/v3/repositories/4711/issues/1` } };
      model.fail({ how: "status", ...moved });
      expect(await tracker.issue("1")).toMatchObject({ is: "unknown" });
      expect(elsewhere.seen).toHaveLength(2);
    } finally {
      await elsewhere.close();
    }
  });

  test("[TRACKER-5] a redirect in a circle ends", async () => {
    const { model, tracker } = world;
    const location = `${model.url}/api/v3/repos/owner/app/issues/1`;
    model.fail({ how: "status", status: 301, headers: { location } }, { times: 100 });
    expect(await tracker.issue("1")).toMatchObject({ is: "unknown", why: "GitHub has a redirect loop." });
    expect(model.requests).toBe(2);
  });

  test("[TRACKER-15] strangers' reviews decide nothing, and a request for changes is a thread", async () => {
    const { model, tracker } = world;
    const number = model.openPullRequest({ branch: "b" });
    model.review(number, "approved", { author: "stranger", writer: false });
    const read = async () => known((await tracker.host!.pullRequests([lookup("b")])).get("b")!)[0]!;
    expect((await read()).review).toBe("none");
    model.review(number, "approved", { author: "anna" });
    expect((await read()).review).toBe("approved");
    model.review(number, "changes_requested", { author: "ben", body: "Please split it." });
    expect((await read()).review).toBe("changes_requested");
    const threads = known(await tracker.host!.threads(await read()));
    expect(threads).toMatchObject([
      { author: "ben", body: "Please split it.", path: null, line: null, resolved: false },
    ]);
    model.review(number, "dismissed", { author: "ben" });
    expect((await read()).review).toBe("approved");
  });

  test("[TRACKER-16] all of 250 checks are returned", async () => {
    const { model, tracker } = world;
    const number = model.openPullRequest({ branch: "b" });
    for (let one = 0; one < 250; one++) model.setCheck(number, `check ${one}`, one === 249 ? "failed" : "passed");
    model.setCheck(number, "outside", "pending", { status: true });
    const [one] = known((await tracker.host!.pullRequests([lookup("b")])).get("b")!);
    expect(one!.checks).toHaveLength(251);
    expect(one!.checks.filter((check) => check.state !== "passed").map((check) => check.name)).toEqual([
      "check 249",
      "outside",
    ]);
  });

  test("[TRACKER-17] a base with or without its path is the same place; a limit in a good answer is a limit", async () => {
    const { model, tracker, trackers, settings } = world;
    const number = String(model.openPullRequest({ branch: "b" }));
    const full = trackers.for({ ...settings, baseUrl: `${model.url}/api/v3/` });
    expect(known(await full.host!.pullRequest(number)).number).toBe(Number(number));
    expect(model.log).toEqual(["POST /api/graphql 200"]);
    const errors = [{ type: "RATE_LIMITED", message: "API rate limit exceeded" }];
    model.fail({ how: "wrong-shape", body: { errors } });
    const over = await tracker.host!.pullRequest(number);
    expect(over).toMatchObject({ is: "unknown", why: "GitHub's rate limit for this token is used up." });
    expect(tracker.budget().restsUntil).toBeGreaterThan(Date.now());
    // The other API has a limit of its own.
    expect((await tracker.issue(number)).is).toBe("known");
    const nameless = trackers.for({ ...settings, repo: "app" });
    expect(await nameless.issue("1")).toMatchObject({
      why: '"app" is not a GitHub repository; use owner/name.',
    });
  });

  test("[TRACKER-18] a merge squashes where merge commits are not allowed", async () => {
    const { model, tracker } = world;
    const number = model.openPullRequest({ branch: "b" });
    model.allowedMerges = { merge: false, squash: true, rebase: false };
    const one = known(await tracker.host!.pullRequest(String(number)));
    expect(await tracker.host!.merge(one)).toEqual({ merged: true });
    expect(JSON.parse(model.seen.at(-1)!.body)).toEqual({ sha: one.headSha, merge_method: "squash" });
  });
});
