import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

test("[CHAT-90] stopping, killing or restarting the daemon in mid-turn does not affect the turn", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  const agent = await home.agent(id);
  const away: [string, () => Promise<unknown>][] = [
    ["stop", () => home.ok(["stop"])],
    ["kill", () => home.crash()],
    ["restart", () => home.ok(["restart"])],
  ];
  for (const [name, end] of away) {
    await home.send(id, `say: before ${name}\ngate: ${name}\nsay: after ${name}`);
    await home.says(id, `before ${name}\n`);
    await end();
    await home.ok(["start"]);
    await home.status(id, "working");
    home.openGate(name);
    await home.ended(id, away.findIndex(([one]) => one === name) + 1);
    expect(await home.agent(id)).toEqual(agent);
  }
  expect(await home.turns(id)).toMatchObject(
    away.map(([name]) => ({ text: `before ${name}\nafter ${name}\n`, stopReason: "end_turn" })),
  );
  expect((await home.turn(id, "history?")).text).toContain("turns=3 ");
});

test("[CHAT-91] a turn that ends while no daemon runs has its own stop reason once one does", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two\nfail: by design");
  await home.says(id, "one\n");
  await home.crash();
  home.openGate("a");
  await until("the agent to answer into its file", () => home.output(id).includes("by design"));
  await home.ok(["start"]);
  const [turn] = await home.ended(id);
  expect(turn).toMatchObject({ text: "one\ntwo\n", stopReason: "error" });
  expect((await home.ofType(id, "turn.ended"))[0]).toMatchObject({ message: "by design" });
  expect((await home.turn(id, "say: three")).stopReason).toBe("end_turn");
});

test("[CHAT-92] a permission request made while no daemon runs stays open, and is answered once", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nask: may I?\nsay: done");
  await home.says(id, "one\n");
  await home.crash();
  home.openGate("a");
  await until("the agent to ask", () => home.output(id).includes("request_permission"));
  await home.ok(["start"]);
  const session = await home.status(id, "needs_input");
  expect(session.permissions).toMatchObject([{ title: "may I?" }]);
  await home.ok(["restart"]);
  const [open] = (await home.status(id, "needs_input")).permissions;
  const answers = await Promise.all([
    home.answer(id, { requestId: open!.requestId, answer: "allow" }),
    home.answer(id, { requestId: open!.requestId, answer: "deny" }),
  ]);
  expect(answers.filter(({ answered }) => answered)).toHaveLength(1);
  const [turn] = await home.ended(id);
  expect(turn!.stopReason).toBe("end_turn");
  expect(turn!.text).toMatch(/^one\n\w+\ndone\n$/);
  expect(await home.answer(id, { requestId: open!.requestId, answer: "allow" })).toEqual({
    answered: false,
    reason: "It was answered already, or its agent is gone.",
  });
  expect(await home.ofType(id, "permission.answered")).toHaveLength(1);
});

test("[CHAT-93] idle chats survive a restart without any message to their agents", async () => {
  await using home = await ChatHome.open();
  const ids = [await home.chat("say: hello"), await home.chat()];
  await home.ended(ids[0]!);
  const input = (id: string): string => readFileSync(join(home.launchDirectory(id), "in"), "utf8");
  const before = await Promise.all(ids.map(async (id) => ({ agent: await home.agent(id), input: input(id) })));
  for (const end of [() => home.ok(["stop"]), () => home.crash()]) {
    await end();
    await home.ok(["start"]);
    for (const [at, id] of ids.entries()) {
      await home.status(id, "idle");
      expect({ agent: await home.agent(id), input: input(id) }).toEqual(before[at]);
    }
  }
  expect((await home.turn(ids[0]!, "history?")).text).toContain("turns=1 ");
});

test("[CHAT-94] a second daemon finds the first one and changes nothing", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two");
  await home.says(id, "one\n");
  const { pid } = home.daemon();
  const second = await home.run(process.execPath, [join(import.meta.dirname, "../../dist/daemon.cjs")]);
  expect(second.code).toBe(0);
  expect(home.daemon().pid).toBe(pid);
  home.openGate("a");
  expect(await home.ended(id)).toMatchObject([{ text: "one\ntwo\n", stopReason: "end_turn" }]);
});

test("[CHAT-23] a turn that the agent started itself ends after silence, also if the daemon that saw it is gone", async () => {
  await using home = await ChatHome.open({}, { HOLDFAST_TEST_MINUTE_MS: "500" });
  const id = await home.chat("say: one\nlater: more");
  await home.says(id, "one\nmore\n");
  await home.crash();
  await home.ok(["start"]);
  await until("its own turn to end", async () =>
    (await home.ofType(id, "turn.ended")).some(({ stopReason }) => stopReason === "quiet"),
  );
  expect((await home.show(id)).status).toBe("idle");
});
