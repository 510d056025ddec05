/** Each real agent in a terminal session must behave as its data file describes. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtInAgents } from "../../src/agents/registry.ts";
import { until } from "../harness/until.ts";
import { digest } from "../model-server/script.ts";
import { laneAgents, realAgents } from "./agents/agents.ts";
import { hasHooks, LaneWorld, patienceMs } from "./world.ts";

const agents = new Map(builtInAgents.map((agent) => [agent.id, agent]));
const stopping = { force: false, deadlineMs: 10_000 };

describe.each(realAgents("terminal"))("%s", (name) => {
  const terminal = agents.get(name)!.terminal!;
  /** Without hooks the agent's title counts. Claude's own file takes precedence over its hooks. */
  const hooks = hasHooks(name);
  const source = terminal.readStatus !== undefined ? "status" : hooks ? "hook" : "title";

  test("[AGENT-28] works, asks, reports idle, and resumes its conversation", async () => {
    await using world = await LaneWorld.open(name);
    const first = "say: first words\ngate: first";
    const launched = await world.start("fresh", first);
    await world.until("working", source);
    world.model.openGate("first");
    const idle = await world.until("idle", source);
    // Claude's own file reports idle a moment before its hook.
    const reported = async (): Promise<boolean> => (await world.seen()).lastMessage?.includes("first words") === true;
    if (hooks) await until("its last message", reported, patienceMs);
    expect(idle.agentSessionId).toMatch(/^[\w-]{8,}$/);
    expect(launched.agentSessionId).toBe(terminal.conversationId === "chosen" ? idle.agentSessionId : null);

    const second = "say: asking\ntool: bash touch made";
    expect(await world.send(second)).toEqual({ sent: "seen", by: hooks ? "hook" : "transcript" });
    await world.until("needs_input", source);
    const blocked = await world.runtime.send(world.session, { promptId: "p" as never, text: "say: never" });
    expect(blocked).toMatchObject({ sent: "not-now" });
    expect(existsSync(join(world.workspace, "made"))).toBe(false);
    await world.untilScreen(laneAgents[world.agent].asks);
    await world.press(...laneAgents[world.agent].allow);
    const done = await world.until("idle");
    expect(existsSync(join(world.workspace, "made"))).toBe(true);

    expect(await world.runtime.stop(world.session, stopping)).toMatchObject({ remaining: [] });
    world.session = { ...world.session, agentSessionId: done.agentSessionId, prompted: true };
    await world.start("resume", "history?");
    const history = await world.untilScreen(/history: turns=\d+ digest=\w{8}/);
    expect(history).toBe(`history: turns=2 digest=${digest([first, second])}`);
    expect((await world.until("idle")).agentSessionId).toBe(idle.agentSessionId);
  });

  test("[AGENT-29] reports an unknown conversation as gone", async () => {
    await using world = await LaneWorld.open(name);
    const unknown = laneAgents[name].unknownConversation ?? "01a1e104-d677-7062-b4d8-0f8eead90463";
    world.session = { ...world.session, agentSessionId: unknown };
    expect(await world.launch("resume", null)).toMatchObject({ launched: false, conversationGone: true });
  });

  test("[AGENT-30] is idle again after its turn is interrupted", async () => {
    await using world = await LaneWorld.open(name);
    await world.start("fresh", "say: before\ngate: never");
    await world.until("working");
    // The reply, not the prompt.
    await world.untilScreen(/(?<!say: )before/);
    const [key, again] = terminal.interrupt;
    await world.press(key!);
    if (again !== undefined) await world.interrupt(again);
    expect((await world.until("idle")).agent.alive).toBe(true);
  });
});

test("[AGENT-31] codex asks about our hooks at the first start, and the user sees that as a question", async () => {
  await using world = await LaneWorld.open("codex", { trustHooks: false });
  await world.start("fresh", null);
  await world.until("needs_input");
  expect(await world.untilScreen(/Hooks need review/)).toBe("Hooks need review");
});

test("[AGENT-13] claude's status file shows a question and its dismissal, for which there is no hook", async () => {
  await using world = await LaneWorld.open("claude");
  const { agent } = await world.start("fresh", "tool: bash touch made");
  await world.until("needs_input");
  const readStatus = agents.get("claude")!.terminal!.readStatus!;
  await expect.poll(() => readStatus(agent)?.activity, { timeout: patienceMs }).toBe("needs_input");
  await world.untilScreen(laneAgents[world.agent].asks);
  await world.press("Escape");
  await expect.poll(() => readStatus(agent)?.activity, { timeout: patienceMs }).toBe("idle");
});
