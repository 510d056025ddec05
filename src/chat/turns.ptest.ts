import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";
import { until } from "../../test/harness/until.ts";

test("[CHAT-17] a prompt becomes words and the turn ends with the agent's own stop reason", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const promptId = await world.send(id, "say: hello\nsay: world");
  expect(await world.ended(id)).toBe("end_turn");
  expect(world.text(id)).toContain("hello");
  expect(world.text(id)).toContain("world");
  const turn = world.events(id).filter((event) => event.type.startsWith("turn.") || event.type.startsWith("prompt."));
  expect(turn.map((event) => event.type)).toEqual(["prompt.admitted", "prompt.sent", "turn.started", "turn.ended"]);
  expect(turn.at(-1)).toMatchObject({ promptId });
  const { seen } = await world.look(id);
  expect(seen.is === "known" && seen.value.processes.map((one) => one.what)).toEqual(["agent", "keeper", "feeder"]);
});

test("[CHAT-18] a daemon that dies in mid-turn: the next one ends the turn truly, nothing lost, nothing doubled", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const before = await world.look(id);
  await world.send(id, "say: one\ngate: open\nsay: two\nsay: three");
  await until("the first word", () => world.text(id).includes("one"));
  world.restart();
  expect((await world.look(id)).seen).toMatchObject({ is: "known", value: { activity: { activity: "working" } } });
  world.openGate("open");
  expect(await world.ended(id)).toBe("end_turn");
  expect(world.text(id).match(/one|two|three/g)).toEqual(["one", "two", "three"]);
  const after = await world.look(id);
  const pid = ({ seen }: typeof before) => (seen.is === "known" ? seen.value.processes[0]!.identity : null);
  expect(pid(after)).toEqual(pid(before));
});

test("[CHAT-19] a turn that ends while no daemon is there is read by the next one", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "gate: open\nsay: all of it");
  const files = world.files(id);
  world.die();
  world.openGate("open");
  await until("the agent's answer", () => readFileSync(join(files, "out"), "utf8").includes("stopReason"));
  world.start();
  await world.look(id);
  expect(await world.ended(id)).toBe("end_turn");
  expect(world.text(id)).toContain("all of it");
});

test("[CHAT-20, CHAT-27] a question asked while no daemon is there is answered later, and once", async () => {
  await using world = new AcpWorld();
  const id = await world.up("asks-then-waits");
  await world.send(id, "please");
  world.restart();
  await world.look(id);
  const [asked] = await until("the question", () =>
    world.state(id).permissions.length > 0 ? world.state(id).permissions : null,
  );
  expect(asked).toMatchObject({ title: "touch file", options: [{ kind: "allow_once" }, {}, { kind: "reject_once" }] });
  expect((await world.look(id)).seen).toMatchObject({ value: { activity: { activity: "needs_input" } } });
  world.restart();
  const state = world.state(id);
  expect(await world.runtime.answer(state, asked!.requestId, "nonsense", "person")).toMatchObject({
    why: "no-such-option",
  });
  const answers = await Promise.all(
    ["yes", "no"].map((option) => world.runtime.answer(state, asked!.requestId, option, "person")),
  );
  expect(answers.filter((one) => one.answered)).toHaveLength(1);
  expect(await world.ended(id)).toBe("end_turn");
  world.restart();
  expect(await world.runtime.answer(world.state(id), asked!.requestId, "yes", "person")).toMatchObject({
    why: "not-open",
  });
  expect(world.text(id)).toBe("answered: yes\n");
});

test("[CHAT-21] cancel answers open questions with cancelled, and the turn ends by the agent's own word", async () => {
  await using world = new AcpWorld();
  const id = await world.up("asks-then-waits");
  await world.send(id, "please");
  await until("the question", () => world.state(id).permissions.length > 0);
  const cancelled = await world.runtime.cancel(world.state(id), { by: "person", waitMs: 15_000 });
  expect(cancelled).toEqual({ cancelled: "ended", stopReason: "cancelled" });
  expect(world.text(id)).toBe("answered: cancelled\n");
  expect(world.events(id).filter((event) => event.type === "permission.answered")).toMatchObject([
    { outcome: "cancelled", by: "person" },
  ]);
  expect(await world.runtime.cancel(world.state(id), { by: "person", waitMs: 5_000 })).toEqual({
    cancelled: "no-turn",
  });
});

test("[CHAT-22] a turn is ended by force only while there is one, and its late answer changes nothing", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  expect(await world.runtime.endTurn(world.state(id), "person")).toBe(false);
  await world.send(id, "gate: open", "p-1");
  expect(await world.runtime.endTurn(world.state(id), "person")).toBe(true);
  world.openGate("open");
  await until("the late answer", () => world.store.inputRow(launchOf(world, id), "p:p-1")?.answer);
  expect(world.ends(id)).toEqual(["forced"]);
});

test("[CHAT-23] what an agent says outside of a turn is a turn of its own, over when nothing more comes", async () => {
  await using world = new AcpWorld();
  world.die();
  world.start({}, 100);
  const id = await world.up("demo");
  await world.send(id, "later: by myself");
  expect(await world.ended(id, 2)).toBe("quiet");
  expect(world.events(id).filter((event) => event.type === "turn.started")).toMatchObject([{}, { promptId: null }]);
  expect(world.text(id)).toContain("by myself");
});

test("[CHAT-24] an agent that answers twice ends one turn", async () => {
  await using world = new AcpWorld();
  const id = await world.up("answers-twice");
  await world.send(id, "first");
  await world.ended(id, 1);
  await world.send(id, "second");
  await world.ended(id, 2);
  await world.send(id, "third");
  await world.ended(id, 3);
  expect(world.ends(id)).toHaveLength(3);
});

test("[CHAT-25] what we do not offer is answered as an unknown method at once", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const request = { jsonrpc: "2.0", id: "from-agent", method: "fs/read_text_file", params: {} };
  const answers = (): string[] =>
    readFileSync(join(world.files(id), "in"), "utf8")
      .split("\n")
      .filter((line) => line.includes("from-agent"));
  // An id that was answered may be used again.
  for (let count = 1; count <= 2; count++) {
    appendFileSync(join(world.files(id), "out"), `${JSON.stringify(request)}\n`);
    await until("our answer", () => answers().length === count);
    expect(JSON.parse(answers().at(-1)!)).toMatchObject({ id: "from-agent", error: { code: -32_601 } });
  }
  await world.send(id, "say: still here");
  expect(await world.ended(id)).toBe("end_turn");
});

test("[CHAT-26] mode and options that were picked are applied again to the next launch", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "say: kept");
  await world.ended(id);
  expect(await world.runtime.configure(world.state(id), { set: "mode", value: "plan" }, "person")).toEqual({
    applied: true,
  });
  expect(await world.runtime.configure(world.state(id), { set: "mode", value: "no such" }, "person")).toMatchObject({
    applied: false,
  });
  expect(world.state(id).picks.mode).toBe("plan");
  await stopped(world, id);
  expect(await world.launch(id, "resume")).toMatchObject({ launched: true });
  await world.send(id, "mode?");
  await world.ended(id, 2);
  expect(world.text(id)).toContain("plan");
});

test("[AGENT-3] a configured option is set at each launch, until the user chooses another one", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo", { options: { model: "demo-large" } });
  const chosen = () =>
    world.events(id).flatMap((event) => (event.type === "config.changed" && event.picked !== undefined ? [event] : []));
  expect(chosen()).toMatchObject([{ picked: { id: "model", value: "demo-large" }, by: "configuration" }]);
  // Not kept as the user's choice: the next launch reads the configuration again.
  expect(world.state(id).picks).toEqual({ config: {} });
  await world.send(id, "say: kept");
  await world.ended(id);
  await world.runtime.configure(world.state(id), { set: "config", id: "model", value: "demo-small" }, "person");
  await stopped(world, id);
  expect(await world.launch(id, "resume")).toMatchObject({ launched: true });
  expect(chosen().map(({ picked }) => picked?.value)).toEqual(["demo-large", "demo-small", "demo-small"]);
});

function launchOf(world: AcpWorld, id: Parameters<AcpWorld["state"]>[0]) {
  const { run } = world.state(id);
  if (run.run === "none") throw new Error("never launched");
  return run.launch;
}

async function stopped(world: AcpWorld, id: Parameters<AcpWorld["state"]>[0]): Promise<void> {
  const launch = launchOf(world, id);
  const { exit, lastLines, remaining } = await world.runtime.stop(world.state(id), { force: false, deadlineMs: 9_000 });
  expect(remaining).toEqual([]);
  await world.record(id, { type: "run.ended", launch, how: "stopped", exit, uptimeMs: 0, lastLines });
}
