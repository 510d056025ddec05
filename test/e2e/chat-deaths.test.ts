import { appendFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

test("[CHAT-97] an agent killed in mid-turn: its output is kept, the turn is reported as orphaned, the context is restored", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: first");
  await home.ended(id);
  const conversation = (await home.show(id)).agentSessionId;
  for (const daemon of ["there", "away"]) {
    const { pid } = await home.agent(id);
    await home.send(id, `say: last words while ${daemon}\ngate: never`);
    await home.says(id, `last words while ${daemon}\n`);
    if (daemon === "away") await home.crash();
    process.kill(pid, "SIGKILL");
    await until("the agent to be gone", () => !isRunning(pid));
    if (daemon === "away") await home.ok(["start"]);
    await home.turn(id, "say: back");
  }
  expect(await home.turn(id, "history?")).toMatchObject({ text: expect.stringContaining("turns=5 ") as string });
  expect(await home.turns(id)).toMatchObject([
    { text: "first\n", stopReason: "end_turn" },
    { text: "last words while there\n", stopReason: "orphaned_at_restart" },
    { text: "back\n", stopReason: "end_turn" },
    { text: "last words while away\n", stopReason: "orphaned_at_restart" },
    { text: "back\n", stopReason: "end_turn" },
    { stopReason: "end_turn" },
  ]);
  expect((await home.show(id)).agentSessionId).toBe(conversation);
  expect(await home.ofType(id, "context.reset")).toEqual([]);
  expect((await home.ofType(id, "run.ended")).map((event) => event["how"])).toEqual(["crash", "crash"]);
});

test("[CHAT-98] removing an agent's files in mid-turn is reported, a waiting client gets a response, and the chat continues", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: first");
  await home.ended(id);
  const before = await home.agent(id);
  const waiting = home.cli(["send", id, "say: last words\ngate: never", "--wait"]);
  await home.says(id, "last words\n");
  // In one step: the daemon writes there meanwhile.
  renameSync(join(home.paths.workers, id), join(home.directory, "removed"));
  rmSync(join(home.directory, "removed"), { recursive: true });
  const waited = await waiting;
  expect(waited.stdout).toContain("[interrupted: the agent exited before it finished] The agent's files");
  expect(await home.ofType(id, "notice")).toMatchObject([
    { level: "warn", text: expect.stringContaining("were removed while it ran") as string },
  ]);
  expect(await home.turn(id, "history?")).toMatchObject({ text: expect.stringContaining("turns=") as string });
  expect((await home.agent(id)).pid).not.toBe(before.pid);
  expect(isRunning(before.pid)).toBe(false);
});

test("[CHAT-100] output that an agent wrote before it died without a daemon is read, up to a truncated line", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two\ngate: never");
  await home.says(id, "one\n");
  const { pid } = await home.agent(id);
  await home.crash();
  home.openGate("a");
  await until("the agent to write on", () => home.output(id).includes("two"));
  process.kill(pid, "SIGKILL");
  await until("the agent to be gone", () => !isRunning(pid));
  appendFileSync(join(home.launchDirectory(id), "out"), '{"jsonrpc":"2.0","method":"session/upd');
  await home.ok(["start"]);
  const [turn] = await home.ended(id);
  expect(turn).toMatchObject({ text: "one\ntwo\n", stopReason: "orphaned_at_restart" });
  expect(await home.ofType(id, "output.damaged")).toMatchObject([{ what: "torn" }]);
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
});

test("[CHAT-101] killing the keeper affects neither this turn nor the next one, and the agent can still be stopped completely", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two");
  await home.says(id, "one\n");
  const agent = await home.agent(id);
  process.kill(await home.pidOf(id, "keeper"), "SIGKILL");
  home.openGate("a");
  expect(await home.ended(id)).toMatchObject([{ text: "one\ntwo\n", stopReason: "end_turn" }]);
  await home.crash();
  await home.ok(["start"]);
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
  expect(await home.agent(id)).toEqual(agent);
  expect((await home.show(id)).processes.map(({ what }) => what)).toEqual(["agent", "feeder"]);
  expect(await home.call("workers", id)).toMatchObject([{ session: id, detached: true, pid: agent.pid }]);
  await home.call("stop", id, { body: {} });
  expect(home.tree(id)).toEqual([]);
});

test("[CHAT-102] killing the feeder cuts the agent's input: its turn ends on its own, then it is replaced and keeps its context", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two");
  await home.says(id, "one\n");
  const { pid } = await home.agent(id);
  const feeder = await home.pidOf(id, "feeder");
  process.kill(feeder, "SIGKILL");
  // Until then it may still receive a line, and lose it.
  await until("the feeder to be gone", () => !isRunning(feeder));
  const waiting = home.turn(id, "history?");
  home.openGate("a");
  expect((await waiting).text).toContain("turns=1 ");
  expect((await home.turns(id))[0]).toMatchObject({ text: "one\ntwo\n", stopReason: "end_turn" });
  expect((await home.agent(id)).pid).not.toBe(pid);
  expect((await home.ofType(id, "run.ended")).map((event) => event["how"])).toEqual(["stopped"]);
  expect(await home.ofType(id, "context.reset")).toEqual([]);
});

test("[CHAT-102] a permission request that can no longer be answered ends with its agent, and the session continues", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("ask: may I?\nsay: done");
  await home.status(id, "needs_input");
  const { pid } = await home.agent(id);
  process.kill(await home.pidOf(id, "feeder"), "SIGKILL");
  await home.send(id, "history?");
  const turns = await home.ended(id, 2);
  expect(turns).toMatchObject([{ stopReason: "orphaned_at_restart" }, { stopReason: "end_turn" }]);
  expect(turns[1]!.text).toContain("turns=1 ");
  expect((await home.show(id)).permissions).toEqual([]);
  expect((await home.agent(id)).pid).not.toBe(pid);
});

test("[CHAT-103] agent, keeper and feeder may each be paused and continued, across a restart too", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  const agent = await home.agent(id);
  const parts = ["agent", "keeper", "feeder"];
  for (const part of parts) {
    const pid = await home.pidOf(id, part);
    await home.send(id, `say: before ${part}\ngate: ${part}\nsay: after ${part}`);
    await home.says(id, `before ${part}\n`);
    process.kill(pid, "SIGSTOP");
    try {
      home.openGate(part);
      await home.crash();
      await home.ok(["start"]);
      const status = part === "agent" ? "working" : "idle";
      await home.status(id, status);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await home.ended(id, parts.indexOf(part) + 1);
  }
  const feeder = await home.pidOf(id, "feeder");
  process.kill(feeder, "SIGSTOP");
  expect((await home.turn(id, "history?")).text).toContain("turns=3 ");
  expect(await home.agent(id)).toEqual(agent);
  expect(await home.turns(id)).toMatchObject([
    ...parts.map((part) => ({ text: `before ${part}\nafter ${part}\n`, stopReason: "end_turn" })),
    {},
  ]);
  expect(await home.ofType(id, "run.ended")).toEqual([]);
});
