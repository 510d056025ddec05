import { appendFileSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";
import { until } from "../../test/harness/until.ts";

test("[CHAT-51, BASE-5] one line of 200 MB is reported as damage, the next line is intact, and memory stays bounded", async () => {
  await using world = new AcpWorld();
  const id = await world.up("one-huge-line");
  const before = process.memoryUsage().rss;
  let highest = before;
  const watching = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 5);
  await world.send(id, "go");
  expect(await world.ended(id, 1, 50_000)).toBe("end_turn");
  clearInterval(watching);
  expect(world.text(id)).toBe("after the huge line");
  const damaged = world.events(id).filter((event) => event.type === "output.damaged");
  expect(damaged).toMatchObject([{ what: "oversized", bytes: 200 * 1024 * 1024 }]);
  expect((highest - before) / 1e6).toBeLessThan(150);
  // What was read is given back to the disk.
  await until("the hole", () => statSync(join(world.files(id), "out")).blocks * 512 < 30e6);
});

test("[CHAT-52] lines that are not JSON are reported as damage, and the lines around them are kept", async () => {
  await using world = new AcpWorld();
  const id = await world.up("invalid-json");
  await world.send(id, "go");
  expect(await world.ended(id)).toBe("end_turn");
  expect(world.text(id)).toBe("beforeafter");
  const damaged = world.events(id).filter((event) => event.type === "output.damaged");
  expect(damaged.every((event) => event.type === "output.damaged" && event.what === "unparsable")).toBe(true);
  expect(damaged.length).toBeGreaterThan(0);
});

test("[CHAT-53, CHAT-57] a truncated file is reported as damage and read again from its start", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "gate: open\nsay: after the cut");
  const out = join(world.files(id), "out");
  await until("everything read", () => {
    const place = world.store.allLaunchOffsets()[0];
    return place !== undefined && place.outRead === readFileSync(out).length;
  });
  truncateSync(out, 0);
  await until("the damage", () =>
    world.events(id).some((event) => event.type === "output.damaged" && event.what === "shrunk"),
  );
  expect(world.state(id).turn).toMatchObject({ turn: "open", answerMayBeLost: true });
  world.openGate("open");
  expect(await world.ended(id)).toBe("end_turn");
  expect(world.text(id)).toContain("after the cut");
});

test("[CHAT-54] a line that is still being written is waited for, across daemons", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const out = join(world.files(id), "out");
  // Else it may write its list of commands into the middle of our line.
  await until("its commands", () => world.events(id).some((event) => event.type === "commands.changed"));
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "in two halves" } };
  const sessionId = world.state(id).agentSessionId;
  const line = JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
  appendFileSync(out, line.slice(0, 40));
  await world.look(id);
  world.restart();
  await world.look(id);
  appendFileSync(out, `${line.slice(40)}\n`);
  expect(await until("the words", () => world.text(id) || null)).toBe("in two halves");
});

test("[CHAT-56, CHAT-16] space is reserved ahead of the end of an agent's output", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "say: a word");
  await world.ended(id);
  const { size, blocks } = await until("the reserve", () => {
    const found = statSync(join(world.files(id), "out"));
    return found.blocks * 512 - found.size > 256 * 1024 ? found : null;
  });
  expect(blocks * 512).toBeGreaterThan(size);
});

test("[CHAT-55] an agent with too much unread output is paused, and continues once it was read", async () => {
  await using world = new AcpWorld({ limits: { unreadBytes: 4 * 1024 * 1024 } });
  const id = await world.up("floods", { env: { FLOODS_MB: "24", FLOODS_MB_PER_S: "4000" } });
  const { run } = world.state(id);
  const pid = run.run === "up" ? run.agent!.pid : 0;
  let wasStopped = false;
  await world.send(id, "go");
  await until(
    "the end",
    () => {
      wasStopped ||= /\) T /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
      return world.ends(id)[0];
    },
    50_000,
  );
  expect(wasStopped).toBe(true);
  expect(world.text(id).length).toBeGreaterThan(22e6);
});
