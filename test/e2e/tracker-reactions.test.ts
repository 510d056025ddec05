import { expect, test } from "vitest";
import { Listener } from "../harness/listener.ts";
import { TrackedHome } from "../harness/tracked.ts";
import { until } from "../harness/until.ts";

const send = { action: "send-to-agent" };
const minute = 60_000;

test("[REACTION-3, REACTION-11, NOTIFY-1] failed checks reach the agent with their logs, within a budget; then the user is notified", async () => {
  await using listener = new Listener();
  const webhook = await listener.listen();
  await using home = await TrackedHome.start({ reactions: { "ci-failed": send }, notify: { webhook } });
  const { github } = home;
  const { id, path, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  const fail = async (count: number): Promise<void> => {
    github.setCheck(number, "unit", "failed", { log: "one\nexpected 1 to be 2\nFAIL" });
    await home.refresh();
    await home.refresh();
    await home.ended(id, 1 + count);
  };
  await fail(1);
  const admitted = await home.ofType(id, "prompt.admitted");
  expect(admitted).toHaveLength(2);
  expect(admitted[1]).toMatchObject({ by: "reaction", text: expect.stringContaining("expected 1 to be 2\nFAIL") });
  expect(admitted[1]?.["text"]).toContain(`Checks of pull request #${number} failed on ${sha.slice(0, 8)}: unit.`);
  expect(await home.ofType(id, "reaction.fired")).toMatchObject([
    { reaction: "ci-failed", action: "send-to-agent", attempt: 1, promptId: admitted[1]?.["promptId"] },
  ]);

  github.push(number, await home.commit(path, "second.txt"));
  await fail(2);
  github.push(number, await home.commit(path, "third.txt"));
  await fail(2);
  github.push(number, await home.commit(path, "fourth.txt"));
  await fail(2);
  expect((await home.ofType(id, "reaction.fired")).map((event) => event["attempt"])).toEqual([1, 2]);
  const [escalated, ...more] = await home.ofType(id, "reaction.escalated");
  expect(escalated).toMatchObject({ reaction: "ci-failed", why: expect.stringContaining("was prompted 2 times") });
  expect(more).toEqual([]);
  await until("the webhook call", () => listener.told.length > 0);
  expect(listener.told).toMatchObject([{ session: id, title: `${id}: checks failed` }]);
  await until("that to be recorded", async () => (await home.ofType(id, "notification.sent")).length === 1);

  // Fixed, then failed again: the full budget.
  github.setCheck(number, "unit", "passed");
  await home.refresh();
  expect(await home.ofType(id, "reaction.cleared")).toHaveLength(1);
  github.push(number, await home.commit(path, "fifth.txt"));
  await fail(3);
  expect((await home.ofType(id, "reaction.fired")).at(-1)).toMatchObject({ attempt: 1 });
});

test("[REACTION-3, REACTION-4] conflicts and reviews have their own budgets; the user is notified of a question immediately", async () => {
  const once = { ...send, retries: 1 };
  await using home = await TrackedHome.start({
    reactions: { "merge-conflict": once, "changes-requested": once, "needs-input": once },
  });
  const { github } = home;
  const one = await home.worked();
  const number = github.openPullRequest(one);
  const told = async (): Promise<string[]> => {
    await home.refresh();
    await home.refresh();
    const events = await home.events(one.id);
    return events
      .filter(({ type }) => type.startsWith("reaction."))
      .map((event) => `${event.type.slice(9)} ${String(event["reaction"])}`);
  };
  github.setConflict(number, true);
  expect(await told()).toEqual(["fired merge-conflict"]);
  await home.ended(one.id, 2);
  github.push(number, await home.commit(one.path, "second.txt"));
  expect(await told()).toEqual(["fired merge-conflict", "escalated merge-conflict"]);
  github.setConflict(number, false);
  expect((await told()).slice(2)).toEqual(["cleared merge-conflict"]);

  github.addThread(number, { body: "Why?" });
  github.review(number, "changes_requested");
  expect((await told()).slice(3)).toEqual(["fired changes-requested"]);
  await home.ended(one.id, 3);
  github.addThread(number, { body: "And why this?" });
  expect((await told()).slice(4)).toEqual(["escalated changes-requested"]);
  github.review(number, "approved");
  expect((await told()).slice(5)).toEqual(["cleared changes-requested", "fired approved-and-green"]);

  const asks = await home.chat("ask: may I?");
  await until("the user to be notified", async () => (await home.ofType(asks, "reaction.escalated")).length > 0);
  expect(await home.ofType(asks, "notification")).toMatchObject([{ title: `${asks}: needs you` }]);
  expect(await home.ofType(asks, "prompt.admitted")).toHaveLength(1);
  await home.answer(asks, { answer: "allow" });
  await until("it to be over", async () => (await home.ofType(asks, "reaction.cleared")).length > 0);
});

test("[REACTION-1, REACTION-13] `notify` conditions notify the user once per content, across a restart too", async () => {
  const notify = { action: "notify" };
  await using home = await TrackedHome.start({
    reactions: {
      "ci-failed": notify,
      "changes-requested": notify,
      "merge-conflict": notify,
      "approved-and-green": send,
    },
  });
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  github.setCheck(number, "unit", "failed");
  await home.refresh();
  github.review(number, "changes_requested");
  await home.refresh();
  github.setConflict(number, true);
  await home.refresh();
  await home.ok(["stop"]);
  await home.ok(["start"]);
  await home.refresh();
  expect((await home.ofType(id, "notification")).map(({ title, why }) => [title, why])).toEqual([
    [`${id}: checks failed`, `Checks of pull request #${number} failed on ${sha.slice(0, 8)}: unit.`],
    [`${id}: changes requested`, `A review of pull request #${number} asks for changes.`],
    [`${id}: merge conflict`, `Pull request #${number} has conflicts with main.`],
  ]);
  expect(await home.ofType(id, "prompt.admitted")).toHaveLength(1);
  github.setCheck(number, "unit", "passed");
  github.setConflict(number, false);
  github.review(number, "approved");
  await home.refresh();
  await home.ended(id, 2);
  expect((await home.ofType(id, "prompt.admitted")).at(-1)?.["text"]).toContain("It is ready to merge.");
});

test("[REACTION-3, TRACKER-27] the user is notified if a prompted agent stays idle; unconfirmed facts are shown with their age", async () => {
  await using home = await TrackedHome.start({ reactions: { "ci-failed": send } });
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  github.setCheck(number, "unit", "failed");
  await home.refresh();
  await home.ended(id, 2);
  home.clockAhead(29 * minute);
  await home.refresh();
  expect(await home.ofType(id, "reaction.escalated")).toEqual([]);
  home.clockAhead(31 * minute);
  await home.refresh();
  await home.refresh();
  expect(await home.ofType(id, "reaction.escalated")).toMatchObject([
    { reaction: "ci-failed", why: expect.stringContaining("has been idle since") },
  ]);
  github.fail({ how: "reset" }, { times: 1000 });
  home.clockAhead(45 * minute);
  await home.refresh();
  expect(await home.show(id)).toMatchObject({
    status: "ci_failed",
    reason: "failed: unit; as of 14 min ago; tracker unreachable since then",
  });
});

test("[REACTION-10] a crash before or after the commit of a reaction sends its message exactly once", async () => {
  await using home = await TrackedHome.start({ reactions: { "merge-conflict": send } });
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  github.setConflict(number, true);
  const points = ["reaction.planned", "reaction.recorded"];
  // Both from the start: a restarted daemon polls its trackers on its own.
  for (const point of points) home.arm(point, "kill");
  for (const point of points) {
    await home.refresh().catch(() => undefined);
    await home.reached(point);
    home.disarm(point);
    await home.ok(["start"]);
  }
  await home.refresh();
  await home.refresh();
  await home.ended(id, 2);
  expect(await home.ofType(id, "reaction.fired")).toHaveLength(1);
  expect(await home.ofType(id, "prompt.admitted")).toHaveLength(2);
  expect((await home.turns(id)).length).toBe(2);
});

test("[REACTION-4] nothing is sent while a permission request is open; a review's threads arrive once it is answered", async () => {
  await using home = await TrackedHome.start({ reactions: { "changes-requested": send } });
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  await home.send(id, "ask: may I?");
  await home.status(id, "needs_input");
  github.addThread(number, { path: "work.txt", line: 1, author: "reviewer", body: "This is not enough." });
  github.review(number, "changes_requested");
  await home.refresh();
  expect(await home.ofType(id, "prompt.admitted")).toHaveLength(2);
  // By default the user is notified of the request.
  await until("a notification", async () => (await home.ofType(id, "notification")).length > 0);
  expect(await home.ofType(id, "notification")).toMatchObject([{ title: `${id}: needs you`, channels: [] }]);
  await home.answer(id, { answer: "allow" });
  await home.ended(id, 3);
  expect((await home.ofType(id, "prompt.admitted")).at(-1)).toMatchObject({
    by: "reaction",
    text: expect.stringContaining("```reviewer on work.txt:1\nThis is not enough."),
  });
  await home.refresh();
  expect(await home.ofType(id, "reaction.fired")).toHaveLength(2);
});

test("[REACTION-12] a merge that the host refuses is retried within its budget, then the user is notified", async () => {
  await using home = await TrackedHome.start({ reactions: { "approved-and-green": { action: "merge", retries: 2 } } });
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  github.fail({ how: "status", status: 405, body: { message: "Not today" } }, { match: /^PUT /, times: 1000 });
  github.review(number, "approved");
  for (const ahead of [0, 0, 2, 2, 4, 4, 6]) {
    home.clockAhead(ahead * minute);
    await home.refresh();
  }
  expect((await home.ofType(id, "reaction.fired")).map((event) => event["attempt"])).toEqual([1, 2]);
  expect(await home.ofType(id, "notice")).toMatchObject([
    { level: "warn", text: expect.stringContaining("Not today") },
    { level: "warn" },
  ]);
  expect(await home.ofType(id, "notification")).toMatchObject([{ why: expect.stringContaining("The merge failed.") }]);
  expect(github.pull(number).state).toBe("open");
});

test("[REACTION-12, REACTION-14] approved and green is merged if configured, and the last merge triggers the all-done notification", async () => {
  await using home = await TrackedHome.start({
    reactions: { "approved-and-green": { action: "merge" }, "all-done": { action: "notify" } },
  });
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  github.setCheck(number, "unit", "passed");
  await home.refresh();
  expect(github.pull(number).state).toBe("open");
  github.review(number, "approved");
  await home.refresh();
  expect(github.pull(number).state).toBe("merged");
  expect(await home.ofType(id, "reaction.fired")).toMatchObject([{ action: "merge", attempt: 1 }]);
  await home.refresh();
  await home.status(id, "merged");
  await until("all done", async () => (await home.ofType(id, "notification")).length > 0);
  expect(await home.ofType(id, "notification")).toMatchObject([{ title: `${id}: all sessions finished` }]);
});
