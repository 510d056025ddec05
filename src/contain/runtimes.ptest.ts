import { expect, test } from "vitest";
import { ContainedAcpWorld, ContainedTmuxWorld } from "../../test/agents/contained-world.ts";
import { runtimeContract } from "../ports/runtime-contract.fixture.ts";

for (const one of runtimeContract) {
  test(`[CONTAIN-8] tmux, contained: ${one.title}`, async () => {
    await using world = new ContainedTmuxWorld();
    await expect(one.run(world)).resolves.toBeUndefined();
  });
  test(`[CONTAIN-8] acp, contained: ${one.title}`, async () => {
    await using world = new ContainedAcpWorld();
    await expect(one.run(world)).resolves.toBeUndefined();
  });
}
