import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";
import { until } from "../../test/harness/until.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import { asPromptId } from "../contract/ids.ts";
import { ring } from "./agent-input.ts";

let ours = true;

function restart(world: AcpWorld): void {
  ours = true;
  world.restart({ stillOurs: () => ours });
}

/** A daemon that dies between the row and the file: the row is written, nothing is appended. */
async function onlyRow(world: AcpWorld, id: SessionId, promptId: string, text: string): Promise<string> {
  ours = false;
  await world.record(id, { type: "prompt.admitted", promptId: asPromptId(promptId), text, by: "person" });
  await world.runtime.send(world.state(id), { promptId: asPromptId(promptId), text });
  const { run } = world.state(id);
  return world.store.inputRow((run as { launch: LaunchId }).launch, `p:${promptId}`)!.text!;
}

// Some two hundred daemons, one after the other.
test("[CHAT-60] a prompt whose line was cut off at any byte is completed by the next daemon and delivered exactly once", async () => {
  ours = true;
  await using world = new AcpWorld({ stillOurs: () => ours });
  const id = await world.up("demo");
  const expected: string[] = [];
  for (let cut = 0, length = 1; cut <= length; cut++) {
    const name = `x${String(cut).padStart(3, "0")}`;
    const line = await onlyRow(world, id, name, `say: ${name}.`);
    length = line.length;
    appendFileSync(join(world.files(id), "in"), line.slice(0, cut));
    ring(world.files(id));
    restart(world);
    await world.look(id);
    expect(await world.ended(id, cut + 1)).toBe("end_turn");
    expected.push(name);
  }
  expect(world.text(id).match(/x\d{3}/g)).toEqual(expected);
}, 240_000);

test("[CHAT-61] nothing is written if another process wrote to the agent's input, and that is reported", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  const input = join(world.files(id), "in");
  appendFileSync(input, "\n");
  const before = readFileSync(input, "utf8");
  await world.record(id, { type: "prompt.admitted", promptId: asPromptId("p"), text: "say: no", by: "person" });
  const result = await world.runtime.send(world.state(id), { promptId: asPromptId("p"), text: "say: no" });
  expect(result).toMatchObject({ sent: "not-now", why: expect.stringContaining("changed by another process") });
  expect(readFileSync(input, "utf8")).toBe(before);
  expect((await world.look(id)).seen).toMatchObject({ value: { deaf: true } });
});

test("[CHAT-62] a daemon that lost its lock writes nothing", async () => {
  ours = true;
  await using world = new AcpWorld({ stillOurs: () => ours });
  const id = await world.up("demo");
  const before = readFileSync(join(world.files(id), "in"), "utf8");
  await onlyRow(world, id, "p", "say: later");
  expect(readFileSync(join(world.files(id), "in"), "utf8")).toBe(before);
  restart(world);
  await world.look(id);
  expect(await world.ended(id)).toBe("end_turn");
});

test("[CHAT-63] the same prompt sent twice is one line", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "say: once", "same");
  const again = await world.runtime.send(world.state(id), { promptId: asPromptId("same"), text: "say: once" });
  expect(again).toEqual({ sent: "seen", by: "in" });
  await world.ended(id);
  await until("the whole answer", () => world.text(id).includes("once"));
  expect(readFileSync(join(world.files(id), "in"), "utf8").match(/say: once/g)).toHaveLength(1);
});
