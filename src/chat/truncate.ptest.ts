import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";
import { until } from "../../test/harness/until.ts";
import type { SessionId } from "../contract/ids.ts";

const mib = 1024 * 1024;

for (const [how, fallocate] of [
  ["is missing", "/nowhere/fallocate"],
  ["fails", "false"],
]) {
  test(`[CHAT-58] if fallocate ${how}, read output is freed by truncating the file, and nothing is lost`, async () => {
    const over = { fallocate: fallocate!, limits: { punchBytes: mib } };
    await using world = new AcpWorld(over);
    const id = await world.up("floods", { env: { FLOODS_MB: "12", FLOODS_MB_PER_S: "40" } });
    const out = join(world.files(id), "out");
    const pid = agentOf(world, id);
    for (const turn of [1, 2]) {
      await world.send(id, "go");
      expect(await world.ended(id, turn, 50_000)).toBe("end_turn");
      await until("the cut", () => statSync(out).size < 2 * mib);
      // Of 4096 letters a line, each of a little more than that.
      const lineBytes = update(world.state(id).agentSessionId!, "x".repeat(4096)).length;
      expect(world.text(id).length).toBe(turn * Math.ceil((12 * mib) / lineBytes) * 4096);
    }
    expect(world.events(id).filter((event) => event.type === "output.damaged")).toEqual([]);
    await until("the agent to go on", () => !/\) T /.test(readFileSync(`/proc/${pid}/stat`, "latin1")));
    expect(agentOf(world, id)).toBe(pid);
  });
}

/** What the daemon that died has left of the file, by the step it had reached. */
const deaths: [string, (out: string, line: string) => void][] = [
  ["noted it", () => undefined],
  ["cut the file", (out) => truncateSync(out, 0)],
  ["cut the file, and it has grown a little", (out, line) => writeFileSync(out, line)],
  ["cut the file, and it has grown beyond", (out, line) => writeFileSync(out, line.repeat(40))],
  ["noted it, and somebody let the agent go on", (out, line) => appendFileSync(out, line)],
];

for (const [step, leave] of deaths) {
  test(`[CHAT-59] after a daemon died when it had ${step}, the next one reads new output once`, async () => {
    await using world = new AcpWorld();
    const id = await world.up("demo");
    await world.send(id, "say: before");
    await world.ended(id);
    const files = world.files(id);
    const out = join(files, "out");
    const bytes = await until("everything read", () => {
      const all = readFileSync(out);
      return world.store.allLaunchOffsets()[0]?.outRead === all.length ? all : null;
    });
    const { launch, info } = world.store.allLaunchOffsets()[0]!;
    const truncating = { at: bytes.length, crc: crc32(bytes.subarray(-4096)) };
    const noted = JSON.stringify({ ...(JSON.parse(info) as object), truncating });
    await world.store.chat(id, launch, () => ({ info: noted }));
    const conversation = world.state(id).agentSessionId!;
    world.die();
    const line = update(conversation, "new ");
    leave(out, line);
    const news = readFileSync(out, "utf8").split('"new "').length - 1;
    world.start();
    await world.look(id);
    await until("the note to be gone", () => !world.store.allLaunchOffsets()[0]?.info.includes('"at":'));
    appendFileSync(out, update(conversation, "last"));
    await until("the last word", () => world.text(id).includes("last"));
    expect(world.text(id)).toBe(`before\n${"new ".repeat(news)}last`);
    expect(world.events(id).filter((event) => event.type === "output.damaged")).toEqual([]);
    await world.send(id, "say: after");
    expect(await world.ended(id, 3)).toBe("end_turn");
    expect(world.text(id)).toMatch(/after\n$/);
  });
}

function agentOf(world: AcpWorld, id: SessionId): number {
  const { run } = world.state(id);
  return run.run === "up" ? run.agent!.pid : 0;
}

/** As an agent writes it. */
function update(sessionId: string, text: string): string {
  const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
  return `${JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: chunk } })}\n`;
}
