import { afterEach, expect, test, vi } from "vitest";
import { GithubLoopback } from "../../../test/trackers/github.ts";
import { LinearLoopback } from "../../../test/trackers/linear.ts";
import { openWorld, type World } from "../../../test/trackers/world.ts";
import type { Loopback } from "../../../test/trackers/loopback.ts";
import type { Run } from "../../base/run.ts";
import { known } from "./contract.fixture.ts";
import { createTrackers } from "./trackers.ts";

const worlds: World<Loopback>[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function github(): Promise<World<GithubLoopback>> {
  const world = await openWorld("github", "owner/app", new GithubLoopback());
  worlds.push(world);
  return world;
}

test("[TRACKER-10] the same settings return the same tracker, and creating one sends no request", async () => {
  const run = vi.fn<Run>();
  const trackers = createTrackers({ env: {}, run, configDir: "/nonexistent", now: Date.now });
  const settings = { type: "github", repo: "o/r", baseUrl: null, tokenEnv: null } as const;
  const one = trackers.for(settings);
  expect(trackers.for({ ...settings })).toBe(one);
  expect(trackers.for({ ...settings, repo: "o/other" })).not.toBe(one);
  expect(one.host).not.toBeNull();
  expect(trackers.for({ ...settings, type: "linear" }).host).toBeNull();
  const nothing = { requests: 0, notModified: 0, remaining: null, restsUntil: null, failure: null };
  expect(one.budget()).toEqual(nothing);
  expect(run).not.toHaveBeenCalled();
  await trackers.close();
});

test("[TRACKER-7] trackers with one host and one token rest together; with another token they do not", async () => {
  const { model, trackers, tracker, settings } = await github();
  const number = String(model.openIssue());
  known(await tracker.issue(number));
  model.fail({ how: "slow-down", retryAfterSeconds: 600 });
  expect((await tracker.issue(number)).is).toBe("unknown");
  const before = model.requests;
  expect((await trackers.for({ ...settings, repo: "owner/other" }).issue("1")).is).toBe("unknown");
  expect(model.requests).toBe(before);
  expect(await trackers.for({ ...settings, tokenEnv: "OTHER" }).issue("1")).toMatchObject({
    why: "No token for GitHub: the daemon's environment variable OTHER is not set.",
  });
});

test("[TRACKER-9] without https nothing is sent beyond loopback", async () => {
  const { trackers, settings } = await github();
  const tracker = trackers.for({ ...settings, baseUrl: "http://192.0.2.1" });
  expect(await tracker.issue("1")).toMatchObject({ is: "unknown", why: expect.stringContaining("https") as string });
  expect(tracker.budget()).toMatchObject({ requests: 0, failure: { why: expect.stringContaining("https") as string } });
});

test("[TRACKER-6] what is under way when the daemon stops ends with it", async () => {
  const { model, tracker, trackers } = await github();
  model.fail({ how: "hang" });
  const asking = tracker.issue("1");
  await vi.waitFor(() => expect(model.requests).toBe(1), 10_000);
  await trackers.close();
  expect(await asking).toEqual({ is: "unknown", why: "The daemon is stopping.", retryAt: null });
});

async function linear(): Promise<World<LinearLoopback>> {
  const world = await openWorld("linear", "INT", new LinearLoopback());
  worlds.push(world);
  return world;
}

test("[TRACKER-22] issues by key, address and number; what is done is closed", async () => {
  const { model, tracker } = await linear();
  const key = model.openIssue({ title: "Do it", labels: ["bug"] });
  const issue = known(await tracker.issue(key));
  expect(issue).toMatchObject({
    key: "INT-1",
    title: "Do it",
    body: "What INT-1 is about.",
    state: "open",
    labels: ["bug"],
  });
  expect(known(await tracker.issue("1"))).toEqual(issue);
  expect(known(await tracker.issue("int-1"))).toEqual(issue);
  expect(known(await tracker.issue(issue.url))).toEqual(issue);
  for (const state of ["completed", "canceled", "duplicate"] as const) {
    model.setState(key, state);
    expect(known(await tracker.issue(key)).state).toBe("closed");
  }
  expect((await tracker.issue("INT-99")).is).toBe("absent");
  expect((await tracker.issue("what is this")).is).toBe("absent");
});

test("[TRACKER-22] a hundred issues of several teams are one request; a moved one is found by its old key", async () => {
  const { model, tracker } = await linear();
  const keys = [...Array(90).keys()].map(() => model.openIssue());
  keys.push(...[...Array(10).keys()].map(() => model.openIssue({ team: "OPS", description: null })));
  const answers = await tracker.issues(keys);
  expect(model.requests).toBe(1);
  expect(keys.every((key) => known(answers.get(key)!).key === key)).toBe(true);
  const moved = model.moveTo("INT-5", "OPS");
  expect(known((await tracker.issues(["INT-5", "INT-6"])).get("INT-5")!).key).toBe(moved);
  expect((await tracker.issues(["INT-777"])).get("INT-777")!.is).toBe("absent");
});

test("[TRACKER-23] a limit is a limit, a lie is unknown, and there is no host", async () => {
  const { model, tracker, advance, secret } = await linear();
  model.openIssue();
  expect(tracker.host).toBeNull();
  model.fail({ how: "limit", resetInSeconds: 300 });
  const over = await tracker.issue("INT-1");
  expect(over).toMatchObject({ is: "unknown", why: "Linear's rate limit for this token is used up." });
  expect((await tracker.issues(["INT-1"])).get("INT-1")!.is).toBe("unknown");
  expect(model.requests).toBe(1);
  advance(600_000);
  for (const what of [{ how: "garbage" }, { how: "wrong-shape" }, { how: "wrong-shape", body: null }] as const) {
    model.fail(what, { times: 2 });
    expect((await tracker.issue("INT-1")).is).toBe("unknown");
    expect((await tracker.issues(["INT-1"])).get("INT-1")!.is).toBe("unknown");
  }
  model.acceptedToken = "another";
  const refused = await tracker.issue("INT-1");
  expect(refused).toMatchObject({ is: "unknown", why: "Linear rejected the token." });
  expect(JSON.stringify(refused)).not.toContain(secret);
  model.acceptedToken = null;
  advance(600_000);
  expect(known(await tracker.issue("INT-1")).key).toBe("INT-1");
});
