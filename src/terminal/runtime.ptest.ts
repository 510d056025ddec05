import { expect, test } from "vitest";
import { TmuxWorld } from "../../test/agents/tmux-world.ts";
import { runtimeContract } from "../ports/runtime-contract.fixture.ts";

for (const one of runtimeContract) {
  test(`[TERMINAL-1] tmux: ${one.title}`, async () => {
    await using world = new TmuxWorld();
    await expect(one.run(world)).resolves.toBeUndefined();
  });
}
