import { expect, test } from "vitest";
import { asSessionId } from "../../contract/ids.ts";
import type { PullRequestFacts } from "../../contract/tracker.ts";
import { intent } from "../../supervisor/facts.fixture.ts";
import { pullRequest } from "../reactions/pull-request.fixture.ts";
import { trackerFinding } from "../../api/tracker.ts";
import { trackingWorld } from "./tracking.fixture.ts";

const own = (branch: string, more: Partial<PullRequestFacts> = {}): PullRequestFacts =>
  pullRequest({ headBranch: branch, repo: "owner/app", headRepo: "owner/app", ...more });

test("[TRACKER-38] all sessions of a repository are one lookup, of two projects too", async () => {
  const world = await trackingWorld({ app: "owner/app", again: "owner/app", other: "owner/other", none: null });
  await world.session("app-1");
  await world.session("app-2");
  await world.session("again-1", "again");
  await world.session("other-1", "other");
  await world.session("none-1", "none");
  await world.tracking.poll();
  const keys = (repo: string): string[][] =>
    (world.trackers.get(repo)?.asked ?? []).map((each) => each.map(({ key }) => key).toSorted());
  expect(keys("owner/app")).toEqual([["again-1", "app-1", "app-2"]]);
  expect(keys("owner/other")).toEqual([["other-1"]]);
  expect(world.polls[0]?.toSorted()).toEqual(["again-1", "app-1", "app-2", "other-1"]);
});

test("[TRACKER-40] a tracker that fails, throws or rests changes nothing, and says so; the other one is polled", async () => {
  const world = await trackingWorld({ app: "owner/app", other: "owner/other" });
  await world.session("app-1");
  await world.session("other-1", "other");
  await world.tracking.poll();
  const app = world.trackers.get("owner/app")!;
  app.answer = ({ branch }) => ({ is: "known", value: [own(branch)] });
  await world.tracking.poll();
  const state = () => world.store.session(asSessionId("app-1"));
  expect(state()?.pullRequest?.state).toBe("open");
  const before = state()?.seq;
  const json = () => world.tracking.report().find(({ project }) => project === "app");
  expect(json()).toMatchObject({ state: "ok", why: null });

  const polledAt = world.polled.pullRequests.get(asSessionId("app-1"));
  world.now.value += 60_000;
  app.answer = () => ({ is: "unknown", why: "GitHub answers with status 502.", retryAt: null });
  await world.tracking.poll();
  expect(json()).toMatchObject({ state: "failing", why: "GitHub answers with status 502." });
  app.answer = () => {
    throw new Error("nonsense");
  };
  await world.tracking.poll();
  expect(json()).toMatchObject({ state: "failing", why: "nonsense" });
  app.answer = () => ({
    is: "unknown",
    why: "No token for GitHub: set GITHUB_TOKEN.",
    retryAt: null,
    token: "missing",
  });
  await world.tracking.poll();
  expect(json()?.state).toBe("no-token");
  app.answer = () => ({ is: "absent" });
  await world.tracking.poll();
  expect(json()).toMatchObject({ state: "failing", why: expect.stringContaining("the token cannot access it") });
  const asked = app.asked.length;
  app.restsUntil = world.now.value + 1_000;
  await world.tracking.poll();
  expect(app.asked.length).toBe(asked);
  expect(json()?.state).toBe("resting");
  expect(state()?.seq).toBe(before);
  expect(world.polled.pullRequests.get(asSessionId("app-1"))).toBe(polledAt);
  expect(world.polled.pullRequests.get(asSessionId("other-1"))).toBe(world.now.value);
});

test("[TRACKER-40] a tracker that lies puts nothing on record that is not the session's", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  await world.session("app-1");
  world.trackers.clear();
  await world.tracking.poll();
  const app = world.trackers.get("owner/app")!;
  const lies: PullRequestFacts[] = [
    own("another-branch"),
    own("app-1", { number: -1 }),
    own("app-1", { url: "javascript:alert(1)" }),
    own("app-1", { headRepo: "stranger/app", headSha: "f".repeat(40) }),
    own("app-1", { state: "merged", headSha: "f".repeat(40) }),
  ];
  app.answer = () => ({ is: "known", value: lies });
  await world.tracking.poll();
  expect(world.store.session(asSessionId("app-1"))?.pullRequests ?? []).toEqual([]);
  app.answer = () => ({ is: "known", value: [own("app-1", { state: "merged" })] });
  await world.tracking.poll();
  expect(world.store.session(asSessionId("app-1"))?.pullRequest?.state).toBe("merged");
});

test("[TRACKER-42] what is asked when it is closed is not written, and nothing is asked afterwards", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  await world.session("app-1");
  await world.tracking.poll();
  const app = world.trackers.get("owner/app")!;
  const { promise, resolve } = Promise.withResolvers<void>();
  app.gate = promise;
  app.answer = ({ branch }) => ({ is: "known", value: [own(branch)] });
  const before = world.store.session(asSessionId("app-1"))?.seq;
  const round = world.tracking.poll();
  while (app.asked.length < 2) await new Promise((resume) => setImmediate(resume));
  await world.tracking.close();
  resolve();
  await round;
  expect(world.store.session(asSessionId("app-1"))?.seq).toBe(before);
  expect(world.polls).toHaveLength(1);
});

test("[TRACKER-41] a refresh that comes while a round is under way gets a round of its own", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  await world.session("app-1");
  const first = world.tracking.poll();
  const [second, third] = [world.tracking.poll(true), world.tracking.poll(true)];
  await Promise.all([first, second, third]);
  const asked = world.trackers.get("owner/app")!.asked.map(([lookup]) => lookup?.fresh === true);
  expect(asked).toEqual([false, true]);
});

test("[TRACKER-24] issues go on record when they are different, asked for once however many sessions have them", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  await world.session("app-1", "app", "12");
  await world.session("app-2", "app", "12");
  await world.session("app-3", "app", "a word");
  await world.tracking.poll();
  const app = world.trackers.get("owner/app")!;
  const facts = {
    key: "12",
    url: "https://example.test/12",
    title: "t",
    body: "b",
    state: "open" as const,
    labels: [],
  };
  app.issueAnswer = () => ({ is: "known", value: facts });
  await world.tracking.poll();
  await world.tracking.poll();
  expect(app.issuesAsked).toEqual([["12"], ["12"], ["12"]]);
  const seen = world.store.events(asSessionId("app-1"), 0, 100).filter(({ type }) => type === "issue.seen");
  expect(seen).toHaveLength(1);
  expect(world.store.session(asSessionId("app-2"))?.issueSeen).toMatchObject({ key: "12", state: "open" });
});

test("[TRACKER-38] two hundred sessions are one lookup a round", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  for (let index = 1; index <= 200; index++) await world.session(`app-${index}`);
  await world.tracking.poll();
  await world.tracking.poll();
  expect(world.trackers.get("owner/app")?.asked.map((each) => each.length)).toEqual([200, 200]);
});

test("[TRACKER-33] a pull request that is not shown twice in a row is given up, and comes back; a merged one never", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  await world.session("app-1");
  await world.tracking.poll();
  const app = world.trackers.get("owner/app")!;
  const show = async (...facts: PullRequestFacts[]): Promise<string | undefined> => {
    app.answer = () => ({ is: "known", value: facts });
    await world.tracking.poll();
    return world.store.session(asSessionId("app-1"))?.pullRequest?.state;
  };
  expect(await show(own("app-1"))).toBe("open");
  expect(app.asked.at(-1)?.[0]?.numbers).toEqual([]);
  expect(await show()).toBe("open");
  expect(app.asked.at(-1)?.[0]?.numbers).toEqual([7]);
  expect(await show(own("app-1"))).toBe("open");
  expect(await show()).toBe("open");
  expect(await show()).toBeUndefined();
  expect(await show(own("app-1"))).toBe("open");
  expect(await show(own("app-1", { state: "merged" }))).toBe("merged");
  expect(await show()).toBe("merged");
  expect(await show()).toBe("merged");
});

test("[TRACKER-47] what was claimed or taken from another repository is asked for there, whatever has its number here", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  await world.session("app-1", "app", "7");
  const id = asSessionId("app-1");
  const upstream = pullRequest({ repo: "upstream/app", url: "https://example.test/upstream/app/pull/7" });
  const issue = { key: "7", title: "t", state: "open" as const, labels: [] };
  await world.store.commit(id, () => [
    { type: "issue.seen", issue: { ...issue, url: "https://example.test/upstream/app/issues/7" } },
    { type: "pull-request.seen", pullRequest: upstream },
    { type: "pull-request.claimed", url: upstream.url, by: "person" },
  ]);
  await world.tracking.poll();
  const app = world.trackers.get("owner/app")!;
  app.answer = ({ branch }) => ({ is: "known", value: [own(branch, { title: "here" })] });
  app.pullRequestAnswer = () => ({ is: "unknown", why: "It is down.", retryAt: null });
  await world.tracking.poll();
  await world.tracking.poll();
  const state = () => world.store.session(id)?.pullRequests?.map(({ facts, lost }) => [facts.repo, facts.state, lost]);
  expect(state()).toEqual([
    ["upstream/app", "open", null],
    ["owner/app", "open", null],
  ]);
  app.pullRequestAnswer = () => ({ is: "known", value: { ...upstream, state: "merged" } });
  await world.tracking.poll();
  expect(state()?.[0]).toEqual(["upstream/app", "merged", null]);
  expect(app.asked.at(-1)?.[0]?.numbers).toEqual([7]);
  expect(app.asked.at(1)?.[0]?.numbers).toEqual([]);
  expect(new Set(app.pullRequestsAsked)).toEqual(new Set([upstream.url]));
  expect(app.issuesAsked.at(-1)).toEqual(["https://example.test/upstream/app/issues/7"]);

  // A renamed repository has new addresses for what is on record.
  app.answer = ({ branch }) => ({
    is: "known",
    value: [own(branch, { repo: "owner/new", headRepo: "owner/new", url: "https://example.test/owner/new/pull/7" })],
  });
  await world.tracking.poll();
  expect(state()).toEqual([
    ["upstream/app", "merged", null],
    ["owner/new", "open", null],
  ]);
});

test("[TRACKER-48] a renamed repository is followed, and its new name is said until the settings have it", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  await world.session("app-1");
  await world.tracking.poll();
  const app = world.trackers.get("owner/app")!;
  const finding = () => world.tracking.report().map((one) => trackerFinding(one));
  const show = async (repo: string, more: Partial<PullRequestFacts> = {}): Promise<void> => {
    const url = `https://example.test/${repo}/pull/7`;
    app.answer = ({ branch }) => ({ is: "known", value: [own(branch, { repo, headRepo: repo, url, ...more })] });
    await world.tracking.poll();
  };
  await show("Owner/app");
  expect(finding()).toMatchObject([{ level: "ok", message: "github owner/app is reachable." }]);
  await show("owner/new");
  expect(world.store.session(asSessionId("app-1"))?.pullRequests).toHaveLength(1);
  expect(finding()).toMatchObject([
    {
      level: "info",
      message: "github owner/app is reachable. The repository was renamed to owner/new.",
      fix: expect.any(String),
    },
  ]);
  await show("owner/new", { state: "merged", headSha: "a".repeat(40) });
  expect(finding()).toMatchObject([{ level: "ok" }]);
});

test("[TRACKER-45] two hundred archived sessions are polled every ten minutes, and on request", async () => {
  const world = await trackingWorld({ app: "owner/app" });
  for (let index = 1; index <= 201; index++) {
    await world.session(`app-${index}`);
    const id = asSessionId(`app-${index}`);
    if (index > 1) {
      await world.store.applyVerb(id, (state) => ({ seq: state.seq, events: [intent({ want: "archived" })] }));
    }
  }
  await world.tracking.poll();
  world.now.value += 9 * 60_000;
  await world.tracking.poll();
  await world.tracking.poll(true);
  await world.tracking.poll();
  world.now.value += 10 * 60_000;
  await world.tracking.poll();
  const asked = world.trackers.get("owner/app")!.asked.map((each) => each.length);
  console.log("lookups about 1 running and 200 archived sessions, by round:", JSON.stringify(asked));
  expect(asked).toEqual([201, 1, 201, 1, 201]);
});
