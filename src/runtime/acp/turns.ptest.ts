import { expect, test } from "vitest";
import { AcpWorld } from "../../../test/agents/acp-world.ts";
import { until } from "../../../test/harness/until.ts";

test("[ACP-1] a prompt becomes words and the turn ends with the agent's own stop reason", async () => {
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
