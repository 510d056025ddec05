import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";
import { runtimeContract } from "../ports/runtime-contract.fixture.ts";

for (const one of runtimeContract) {
  test(`[TERMINAL-1] acp: ${one.title}`, async () => {
    await using world = new AcpWorld();
    await expect(one.run(world)).resolves.toBeUndefined();
  });
}
