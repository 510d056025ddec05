/** A terminal agent that is not ready yet, or that drops a prompt, with no other fault. */
import { until } from "../../harness/until.ts";
import type { Run, Scenario } from "../report.ts";
import { setStart, slowWorld } from "../scenarios/terminal.ts";
import type { World } from "../world.ts";

/** Longer than any wait for a first sign of life. */
const startMs = 3_000;
/** Longer than Holdfast waits for the agent's confirmation. */
const swallowedMs = 15_000;

export const slowStart: Scenario = {
  name: "slow-start",
  group: "fault",
  promise: "a prompt waits until a slow agent is ready, and is reported as delivered only if the agent confirms it",
  run: async (run) => {
    await using world = await slowWorld(run.random);
    setStart(world, startMs);
    const session = await world.start("terminal", "claude");
    await arrives(run, world, session, "first");
    await world.call("stop", session, { body: {} });
    await arrives(run, world, session, "second");
    const { pid } = await world.agent(session);
    process.kill(pid, "SIGKILL");
    await until("another agent", async () => (await world.agent(session)).pid !== pid, 60_000);
    await arrives(run, world, session, "third");
    const receipt = await send(run, world, session, "swallow this");
    const isClaimed = receipt === "delivered" || (await sentOf(world, session, "swallow this"));
    run.check(!isClaimed, "untrue", `a prompt that the agent dropped was reported as ${receipt}`);
  },
};

async function send(run: Run, world: World, session: string, text: string): Promise<string> {
  const body = { promptId: text.replaceAll(" ", "-"), text, waitMs: swallowedMs };
  run.count("prompts");
  return (await world.call("prompt", session, { body })).disposition;
}

async function sentOf(world: World, session: string, text: string): Promise<boolean> {
  const promptId = text.replaceAll(" ", "-");
  return (await world.events(session)).some((event) => event.type === "prompt.sent" && event["promptId"] === promptId);
}

async function arrives(run: Run, world: World, session: string, text: string): Promise<void> {
  const times = (): number => world.ledger.of(session, "prompt").filter(({ value }) => value === text).length;
  const receipt = await send(run, world, session, text);
  if (receipt === "delivered")
    run.check(times() > 0, "untrue", `"${text}" was reported as delivered before the agent had it`);
  await until(`"${text}" to arrive`, () => times() > 0, 60_000).catch((error: unknown) =>
    run.bad("lost", `${receipt}: ${String(error)}`),
  );
  run.check(times() <= 1, "doubled", `"${text}" arrived ${times()} times`);
  const recorded = until(`"${text}" to be recorded`, () => sentOf(world, session, text), 60_000);
  await recorded.catch((error: unknown) => run.bad("untrue", String(error)));
}
