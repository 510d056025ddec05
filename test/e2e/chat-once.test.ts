import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

/** Arms the point, does it, and restarts the daemon once the first one has died there. */
async function dieAt(home: ChatHome, point: string, work: () => Promise<unknown>): Promise<void> {
  const { pid } = home.daemon();
  home.arm(point, "kill");
  const failed = work().then(
    () => null,
    (error: unknown) => error,
  );
  await home.reached(point);
  await failed;
  // Its connections close before it is gone, and a start still finds it.
  await until("the daemon to be gone", () => !isRunning(pid));
  home.disarm(point);
  await home.ok(["start"]);
  expect(home.daemon().pid, `the daemon died at ${point}`).not.toBe(pid);
}

test("[CHAT-110] a prompt sent at the moment the daemon dies is delivered exactly once, at any step", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  const agent = await home.agent(id);
  const points = ["execute.deliver", "outbox.append", "prompt.typed"];
  for (const [at, point] of points.entries()) {
    const promptId = `p-${at}`;
    const send = (): Promise<unknown> => home.send(id, `say: ${point}`, { promptId });
    await dieAt(home, point, send);
    // The sender saw no receipt, and retries.
    expect(await home.send(id, `say: ${point}`, { promptId, waitForTurn: true })).toMatchObject({
      disposition: "delivered",
      turn: { stopReason: "end_turn", text: `${point}\n` },
    });
  }
  expect(await home.turns(id)).toMatchObject(points.map((point, at) => ({ promptId: `p-${at}`, text: `${point}\n` })));
  expect((await home.turn(id, "history?")).text).toContain(`turns=${points.length} `);
  expect(await home.agent(id)).toEqual(agent);
});

test("[CHAT-111] a start interrupted at any step is resumed: one agent, one conversation, its prompt once", async () => {
  await using home = await ChatHome.open();
  const points = ["execute.launch", "launch.recorded", "chat.recorded", "chat.spawned", "launch.made", "execute.adopt"];
  for (const [at, point] of points.entries()) {
    const before = point === "execute.adopt" ? "launch.made" : null;
    const prompt = `say: ${point}`;
    if (before === null) await dieAt(home, point, () => home.chat(prompt));
    else {
      home.arm(point, "kill");
      // The next daemon dies too, when it resumes what the first one began: before or after it reports ready.
      await dieAt(home, before, () => home.chat(prompt)).catch(() => undefined);
      await home.reached(point);
      home.disarm(point);
      await home.ok(["start"]);
    }
    const id = `ma-${at + 1}`;
    expect(await home.ended(id), point).toMatchObject([{ text: `${point}\n`, stopReason: "end_turn" }]);
    expect((await home.turn(id, "history?")).text, point).toContain("turns=1 ");
    expect(
      home.tree(id).filter(({ what }) => what.includes("demo-acp")),
      point,
    ).toHaveLength(1);
  }
});

test("[DECIDE-34] daemons that die before a chat agent starts use none of its crash budget", async () => {
  await using home = await ChatHome.open();
  home.arm("outbox.append", "kill");
  const asked = home.chat("say: hello").catch(() => null);
  for (let died = 1; ; died++) {
    const { pid } = home.daemon();
    await until("the daemon to die", () => !isRunning(pid));
    if (died === 4) break;
    await home.cli(["start"]);
  }
  await asked;
  home.disarm("outbox.append");
  await home.ok(["start"]);
  expect(await home.ended("ma-1")).toMatchObject([{ text: "hello\n", stopReason: "end_turn" }]);
  expect((await home.ofType("ma-1", "run.ended")).map(({ how }) => how)).toEqual(["lost", "lost", "lost", "lost"]);
});

test("[CHAT-112] an answer to a permission request given at the moment the daemon dies arrives once", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("ask: may I?\nsay: done");
  const [open] = (await home.status(id, "needs_input")).permissions;
  const give = () => home.answer(id, { requestId: open!.requestId, answer: "allow" });
  await dieAt(home, "outbox.append", give);
  const [turn] = await home.ended(id);
  expect(turn).toMatchObject({ stopReason: "end_turn", text: expect.stringMatching(/^\w+\ndone\n$/) as string });
  expect(await give()).toMatchObject({ answered: false });
  expect(await home.ofType(id, "permission.answered")).toHaveLength(1);
});

test("[CHAT-113] the next daemon completes a stop interrupted at any step, and the turn is not lost", async () => {
  await using home = await ChatHome.open();
  for (const point of ["execute.stop", "stop.ended"]) {
    const id = await home.chat("say: one\ngate: never");
    await home.says(id, "one\n");
    await dieAt(home, point, () => home.call("stop", id, { body: {} }));
    await until(`${id} to be down`, async () => (await home.show(id)).processes.length === 0);
    await until("its processes to be gone", () => home.tree(id).length === 0);
    expect(await home.ended(id)).toMatchObject([{ text: "one\n", stopReason: "cancelled" }]);
    expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
  }
});
