import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";
import { isRunning } from "../../test/harness/marked.ts";
import { until } from "../../test/harness/until.ts";
import type { SessionId } from "../contract/ids.ts";

async function pidOf(world: AcpWorld, id: SessionId, what: string): Promise<number> {
  const { seen } = await world.look(id);
  const found = seen.is === "known" ? seen.value.processes.find((one) => one.what === what) : undefined;
  if (found === undefined) throw new Error(`no ${what}`);
  return found.identity.pid;
}

/** As a daemon's: a quarter of it is for the answer to a cancel, half of it for all that ends on its own. */
const stopping = { force: false, deadlineMs: 9_000 };

test("[CHAT-28] a killed keeper does no harm: the agent continues and is adopted by its own identity", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  process.kill(await pidOf(world, id, "keeper"), "SIGKILL");
  await until("the keeper's death", async () => !(await names(world, id)).includes("keeper"));
  world.restart();
  expect(await names(world, id)).toEqual(["agent", "feeder"]);
  await world.send(id, "say: still here");
  expect(await world.ended(id)).toBe("end_turn");
  expect((await world.runtime.stop(world.state(id), stopping)).remaining).toEqual([]);
  expect(world.everything({ id })).toEqual([]);
});

test("[CHAT-37] the death of an idle agent is reported immediately", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const told: unknown[] = [];
  world.runtime.onHint((session) => told.push(session));
  process.kill(await pidOf(world, id, "agent"), "SIGKILL");
  await until("the hint", () => told.includes(id));
  expect((await world.look(id)).seen).toMatchObject({ value: { agent: { alive: false } } });
});

test("[CHAT-29] an agent without a feeder is deaf; a stopped feeder is continued", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const feeder = await pidOf(world, id, "feeder");
  const isStopped = (): boolean => /\) T /.test(readFileSync(`/proc/${feeder}/stat`, "latin1"));
  process.kill(feeder, "SIGSTOP");
  await until("the feeder to stop", isStopped);
  await world.send(id, "say: heard");
  await world.look(id);
  expect(await world.ended(id)).toBe("end_turn");
  process.kill(feeder, "SIGKILL");
  await until("the feeder's death", () => !isRunning(feeder));
  // Nothing has looked since: a prompt that is taken now would wait for an answer forever.
  const late = { promptId: "late" as never, text: "say: never" };
  expect(await world.runtime.send(world.state(id), late)).toMatchObject({ sent: "not-now" });
  await until("deafness", async () => {
    const { seen } = await world.look(id);
    return seen.is === "known" && seen.value.agent.alive && seen.value.deaf === true;
  });
  expect((await world.runtime.stop(world.state(id), stopping)).remaining).toEqual([]);
});

test("[CHAT-30, DECIDE-30] if an agent dies during a turn, its last output is read before its files are removed", async () => {
  await using world = new AcpWorld();
  const id = await world.up("dies-mid-turn");
  await world.send(id, "go");
  const { seen } = await until("its death", async () => {
    const found = await world.look(id);
    return found.seen.is === "known" && !found.seen.value.agent.alive && found.seen.value.agent.exit !== null
      ? found
      : null;
  });
  expect(seen).toMatchObject({ value: { agent: { alive: false, exit: { code: 137, signal: "SIGKILL" } } } });
  const files = world.files(id);
  writeFileSync(join(files, "out"), '{"jsonrpc":"2.0","method":"cut off', { flag: "a" });
  const stopped = await world.runtime.stop(world.state(id), stopping);
  expect(stopped).toMatchObject({ remaining: [], exit: { code: 137, signal: "SIGKILL" } });
  expect(world.text(id)).toBe("last words");
  expect(world.events(id).at(-1)).toMatchObject({ type: "output.damaged", what: "torn", bytes: 34 });
  expect(world.state(id).turn).toMatchObject({ turn: "open", answerMayBeLost: true });
  expect(() => readFileSync(join(files, "out"))).toThrow("ENOENT");
  expect((await world.look(id)).seen.is).toBe("absent");
  expect(world.store.allLaunchOffsets()).toEqual([]);
});

test("[CHAT-31] leftovers of a dead agent are read by the next daemon, from the committed byte", async () => {
  await using world = new AcpWorld();
  const id = await world.up("dies-mid-turn");
  await world.send(id, "go");
  const agent = world.state(id).run;
  world.die();
  await until("its death", () => agent.run === "up" && agent.agent !== null && !isRunning(agent.agent.pid));
  world.start();
  expect((await world.look(id)).seen).toMatchObject({ is: "known", value: { agent: { alive: false } } });
  await world.runtime.stop(world.state(id), stopping);
  expect(world.text(id)).toBe("last words");
});

test("[CHAT-32, TERMINAL-3] stop ends tools in their own process session, keeper and feeder, and loses no turn", async () => {
  await using world = new AcpWorld();
  const id = await world.up("setsids-children");
  await world.send(id, "go");
  await world.ended(id);
  const child = Number(/child (\d+)/.exec(world.text(id))?.[1]);
  expect(isRunning(child)).toBe(true);
  // 0 where the end of its stdin reached it first, 143 where the signal did: both are its end, and it is recorded.
  const stopped = await world.runtime.stop(world.state(id), stopping);
  expect(stopped.remaining).toEqual([]);
  expect([0, 143]).toContain(stopped.exit?.code);
  expect(world.ends(id)).toEqual(["end_turn"]);
  expect(isRunning(child)).toBe(false);
  expect(world.everything({ id })).toEqual([]);
});

test("[CHAT-33] stop in mid-turn cancels first, so that the turn ends by the agent's own word", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "say: begun\ngate: never");
  await until("the first word", () => world.text(id).includes("begun"));
  await world.runtime.stop(world.state(id), stopping);
  expect(world.ends(id)).toEqual(["cancelled"]);
  expect(world.everything({ id })).toEqual([]);
});

test("[CHAT-34] without its record file, or with a damaged one, an agent is adopted all the same", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const record = join(world.workers, id, "record.json");
  for (const damage of [() => rmSync(record), () => writeFileSync(record, "{")]) {
    damage();
    world.restart();
    expect(await names(world, id)).toEqual(["agent", "keeper", "feeder"]);
  }
  await world.runtime.stop(world.state(id), stopping);
});

test("[CHAT-36] an agent that was started but not recorded is found by its keeper's files, if it carries our marker", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const [place] = world.store.allLaunchOffsets();
  const record = JSON.parse(place!.info) as Record<string, unknown>;
  const info = JSON.stringify({ ...record, agent: null, keeper: null, feeder: null });
  await world.store.chat(id, place!.launch, () => ({ info }));
  world.restart();
  expect(await names(world, id)).toEqual(["agent", "keeper", "feeder"]);
  expect(JSON.parse(world.store.allLaunchOffsets()[0]!.info)).toEqual(record);
  await world.store.chat(id, place!.launch, () => ({ info }));
  writeFileSync(join(world.files(id), "agent.pid"), `${process.pid}\n`);
  world.restart();
  expect((await world.look(id)).seen.is).toBe("unknown");
  expect((await world.runtime.stop(world.state(id), stopping)).remaining).toEqual([]);
});

test("[CHAT-35] a launch of another boot is read, removed, and reported as lost with the machine", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "gate: open\nsay: before the reboot");
  const files = world.files(id);
  world.die();
  world.openGate("open");
  await until("the answer", () => readFileSync(join(files, "out"), "utf8").includes("stopReason"));
  await world.killEverything();
  world.start({ bootId: "another boot" });
  expect(await world.look(id)).toEqual({ seen: { is: "absent" }, cause: "other-boot" });
  expect(world.ends(id)).toEqual(["end_turn"]);
  expect(world.text(id)).toContain("before the reboot");
  expect(world.runtime.mayHaveLeft(world.state(id))).toBe(false);
});

async function names(world: AcpWorld, id: SessionId): Promise<string[]> {
  const { seen } = await world.look(id);
  return seen.is === "known" ? seen.value.processes.map((one) => one.what) : [];
}

test("[CHAT-48] an agent of an outdated build is reported as stale, and adopted nevertheless", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  expect((await world.look(id)).seen).toMatchObject({ value: { stale: false } });
  world.restart({ buildOf: () => "newer" });
  expect((await world.look(id)).seen).toMatchObject({ value: { stale: true, agent: { alive: true } } });
});
