/** Reactions to what agents do or leave undone, without a tracker: exits, idleness, and that all is done. */
import { expect, test } from "vitest";
import { TrackedHome } from "../harness/tracked.ts";
import { until } from "../harness/until.ts";

const minute = 60_000;
const once = { action: "send-to-agent", retries: 1 };

test("[REACTION-15, REACTION-3] an agent that exits on its own is restarted within a budget; a prompt from the user renews the budget", async () => {
  // The demo agent follows its prompt, also a reaction's: it exits again.
  const reactions = { exited: { ...once, message: "exit: 0" } };
  await using home = await TrackedHome.start({ reactions });
  const id = await home.chat("say: ready");
  await home.ended(id);
  await home.send(id, "exit: 0");
  await until("the user to be notified", async () => (await home.ofType(id, "reaction.escalated")).length > 0);
  await home.ok(["stop"]);
  await home.ok(["start"]);
  await home.refresh();
  const reacted = async (): Promise<unknown[][]> =>
    (await home.events(id))
      .filter(({ type }) => type.startsWith("reaction."))
      .map((event) => [event.type, event["reaction"], event["attempt"]]);
  expect(await reacted()).toEqual([
    ["reaction.fired", "exited", 1],
    ["reaction.escalated", "exited", undefined],
  ]);
  expect((await home.ofType(id, "run.ended")).map((event) => event["how"])).toEqual(["own-exit", "own-exit"]);
  // The daemon may have stopped before it was sent: then the next one sends it.
  await until("the notification", async () => (await home.ofType(id, "notification")).length > 0);
  expect(await home.ofType(id, "notification")).toMatchObject([
    { title: `${id}: exited`, why: "The agent exited on its own. The agent was prompted once; the problem persists." },
  ]);

  // The user prompts it again: the full budget.
  await home.turn(id, "say: back");
  await home.send(id, "exit: 0");
  await until("the user to be notified again", async () => (await home.ofType(id, "reaction.escalated")).length > 1);
  expect((await reacted()).slice(2)).toEqual([
    ["reaction.cleared", "exited", undefined],
    ["reaction.fired", "exited", 1],
    ["reaction.escalated", "exited", undefined],
  ]);

  // Without configuration the user is notified once per exit.
  home.settings({});
  await home.trust();
  await home.refresh();
  const second = await home.chat("exit: 0");
  await until("the end", async () => (await home.ofType(second, "notification")).length > 0);
  await home.refresh();
  await home.turn(second, "say: back");
  await home.send(second, "exit: 0");
  await until("the second end", async () => (await home.ofType(second, "notification")).length > 1);
  await home.refresh();
  expect((await home.ofType(second, "reaction.fired")).map((event) => event["action"])).toEqual(["notify", "notify"]);
  expect(await home.ofType(second, "reaction.cleared")).toEqual([]);
});

test("[DECIDE-16, REACTION-5] a failed turn that the next prompt follows neither needs the user nor notifies", async () => {
  await using home = await TrackedHome.start();
  const id = await home.chat("say: ready");
  await home.ended(id);
  await home.send(id, "exit: 0");
  await until("the end", async () => (await home.ofType(id, "notification")).length > 0);
  home.arm("execute.deliver", "pause");
  await home.send(id, "say: back", { waitMs: 0 });
  await home.reached("execute.deliver");
  // The agent is back and idle after the turn that its exit interrupted, and the next prompt is not sent yet.
  expect(await home.show(id)).toMatchObject({ status: "idle", needsYou: false, reason: null });
  await home.refresh();
  home.disarm("execute.deliver");
  await home.ended(id, 3);
  expect((await home.ofType(id, "reaction.fired")).map((event) => event["reaction"])).toEqual(["exited"]);
});

test("[REACTION-15, REACTION-3] an idle agent is reminded within a budget, then the user is notified; work or a pull request ends it", async () => {
  await using home = await TrackedHome.start({ reactions: { "agent-idle": once } });
  const { id, branch, sha } = await home.worked();
  const reacted = async (ahead: number): Promise<unknown[]> => {
    home.clockAhead(ahead * minute);
    await home.refresh();
    await home.refresh();
    return (await home.events(id)).filter(({ type }) => type.startsWith("reaction.")).map(({ type }) => type.slice(9));
  };
  expect(await reacted(14)).toEqual([]);
  // Not exactly a minute: the text has minutes, and the machine may take a while.
  expect(await reacted(15.6)).toEqual(["fired"]);
  await home.ended(id, 2);
  expect((await home.ofType(id, "prompt.admitted")).at(-1)).toMatchObject({
    by: "reaction",
    text: expect.stringMatching(/^You have been idle for 16 min without a pull request\.\n\nContinue the task\./),
  });
  expect(await reacted(29.6)).toEqual(["fired"]);
  expect(await reacted(32)).toEqual(["fired", "escalated"]);
  await home.ok(["stop"]);
  await home.ok(["start"]);
  expect(await reacted(60)).toEqual(["fired", "escalated"]);
  expect(await home.ofType(id, "notification")).toMatchObject([{ title: `${id}: idle` }]);
  await home.turn(id, "say: on it");
  expect(await reacted(76)).toEqual(["fired", "escalated", "cleared", "fired"]);
  await home.ended(id, 4);
  home.github.openPullRequest({ branch, sha });
  expect(await reacted(76)).toEqual(["fired", "escalated", "cleared", "fired", "cleared"]);
  expect((await reacted(120)).length).toBe(5);

  home.settings({ reactions: { "agent-idle": { action: "notify", message: "Look at it." } } });
  await home.trust();
  const other = await home.worked("other.txt");
  await reacted(140);
  await reacted(140);
  expect(await home.ofType(other.id, "notification")).toMatchObject([
    { title: `${other.id}: idle`, text: "Look at it." },
  ]);
});

test("[REACTION-16, REACTION-14] when all is done the orchestrator is notified, once per set; without one, the user is", async () => {
  await using home = await TrackedHome.start({ reactions: { "all-done": { action: "send-to-agent" } } });
  const { github } = home;
  const boss = await home.json(["spawn", "my-app", "--role", "orchestrator", "--agent", "demo", "--kind", "chat"]);
  await home.ended(boss.id);
  const finish = async (file: string): Promise<string> => {
    const { id, branch, sha } = await home.worked(file);
    github.merge(github.openPullRequest({ branch, sha }));
    await home.refresh();
    await home.status(id, "merged");
    await home.refresh();
    return id;
  };
  const busy = await home.worked("busy.txt");
  const first = await finish("one.txt");
  expect(await home.ofType(boss.id, "reaction.fired")).toEqual([]);
  github.merge(github.openPullRequest(busy));
  await home.refresh();
  await home.ended(boss.id, 2);
  await home.refresh();
  expect(await home.ofType(boss.id, "prompt.admitted")).toMatchObject([
    { by: "person" },
    {
      by: "reaction",
      text: expect.stringMatching(/^All sessions have finished\.\n\nReview each session's result, report/),
    },
  ]);
  await finish("two.txt");
  await home.ended(boss.id, 3);
  expect((await home.ofType(boss.id, "reaction.fired")).map((event) => event["attempt"])).toEqual([1, 1]);

  await home.ok(["session", "kill", boss.id]);
  const last = await finish("three.txt");
  await until("the user to be notified", async () => (await home.ofType(last, "notification")).length > 0);
  expect(await home.ofType(last, "notification")).toMatchObject([{ why: expect.stringContaining("no orchestrator") }]);
  for (const id of [first, busy.id, last]) expect(await home.ofType(id, "prompt.admitted")).toHaveLength(1);
});
