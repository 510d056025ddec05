import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { TrackedHome } from "../harness/tracked.ts";
import { until } from "../harness/until.ts";

const send = { action: "send-to-agent" };

/** What somebody else's server is told. */
class Listener {
  readonly told: { id: string; title: string; text: string; session: string; why: string }[] = [];
  readonly #server: Server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => void (text += part));
    request.on("end", () => {
      this.told.push(JSON.parse(text) as (typeof this.told)[number]);
      response.end("ok");
    });
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

test("[REACT-3, REACT-7, NOTE-1] failed checks reach the agent with their logs, within a budget; then a person is told", async () => {
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
  expect(escalated).toMatchObject({ reaction: "ci-failed", why: expect.stringContaining("was told 2 times") });
  expect(more).toEqual([]);
  await until("the webhook to be told", () => listener.told.length > 0);
  expect(listener.told).toMatchObject([{ session: id, title: `${id}: checks failed` }]);
  await until("that to be on record", async () => (await home.ofType(id, "notification.sent")).length === 1);

  // Over, and then again: a whole budget.
  github.setCheck(number, "unit", "passed");
  await home.refresh();
  expect(await home.ofType(id, "reaction.cleared")).toHaveLength(1);
  github.push(number, await home.commit(path, "fifth.txt"));
  await fail(3);
  expect((await home.ofType(id, "reaction.fired")).at(-1)).toMatchObject({ attempt: 1 });
});

test("[REACT-6] a crash before or behind the commit of a reaction sends its message exactly once", async () => {
  await using home = await TrackedHome.start({ reactions: { "merge-conflict": send } });
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  github.setConflict(number, true);
  for (const point of ["reaction.planned", "reaction.recorded"]) {
    home.arm(point, "kill");
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

test("[REACT-4] nothing is sent into an open question; a review's threads arrive when it is answered", async () => {
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
  // By default a person hears of the question.
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

test("[REACT-8, REACT-10] approved and green is merged where that is configured, and the last one done is told of", async () => {
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
