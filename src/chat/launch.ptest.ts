import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";
import { until } from "../../test/harness/until.ts";
import type { SessionId } from "../contract/ids.ts";

const stopping = { force: false, deadlineMs: 9_000 };

test("[CHAT-38] a resumed session has its context back, and nothing of the past is shown again", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "say: once");
  await world.ended(id);
  await stopped(world, id);
  expect(await world.launch(id, "resume")).toMatchObject({ launched: true });
  await world.send(id, "history?");
  await world.ended(id, 2);
  expect(world.text(id).match(/once/g)).toHaveLength(1);
  expect(world.text(id)).toMatch(/turns=[12]/);
  expect(world.events(id).filter((event) => event.type === "chat.opened")).toHaveLength(2);
});

test.each([
  ["with its answer", {}, true],
  ["with the list of commands", { replayEnds: "commands" as const }, false],
])("[CHAT-39, CHAT-50] a replay that ends %s is not shown twice", async (_where, agent, sawLate) => {
  await using world = new AcpWorld();
  const gate = join(world.directory, "load-gate");
  const id = await world.create("slow-to-load", { env: { LOAD_GATE: gate }, ...agent });
  await prompted(world, id);
  const launching = world.launch(id, "resume");
  writeFileSync(gate, "");
  expect(await launching).toMatchObject({ launched: true, agentSessionId: "old-id" });
  await until("the commands", () => world.events(id).some((event) => event.type === "commands.changed"));
  expect(world.text(id).includes("too late")).toBe(sawLate);
  expect(world.text(id)).not.toMatch(/old answer(?!, too late)/);
});

test("[CHAT-40] a load that another daemon began is not begun twice, and its replay stays hidden", async () => {
  await using world = new AcpWorld();
  const gate = join(world.directory, "load-gate");
  const id = await world.create("slow-to-load", { env: { LOAD_GATE: gate }, replayEnds: "commands" });
  await prompted(world, id);
  void world.launch(id, "resume").catch(() => undefined);
  const launch = await until("the load", () => {
    const { run } = world.state(id);
    return run.run === "launching" && world.store.inputRow(run.launch, "load") !== null ? run.launch : null;
  });
  world.restart();
  expect((await world.look(id)).seen).toMatchObject({ is: "known", value: { agent: { alive: true } } });
  const again = world.runtime.launch({ session: world.state(id), launch, how: "resume", prompt: null, env: {} });
  writeFileSync(gate, "");
  expect(await again).toMatchObject({ launched: true, agentSessionId: "old-id" });
  expect(world.text(id)).toBe("");
  expect(world.store.inputAfter(launch, 0).filter((row) => row.key.startsWith("load"))).toHaveLength(1);
});

test("[CHAT-41] a conversation that the agent lost is reported as gone; one without a prompt is started over", async () => {
  await using world = new AcpWorld();
  const id = await world.create("forgets-sessions");
  await prompted(world, id);
  expect(await world.launch(id, "resume")).toMatchObject({ launched: false, conversationGone: true });
  expect(world.everything({ id })).toEqual([]);
  const silent = await world.create("forgets-sessions");
  await world.record(silent, { type: "conversation.pinned", agentSessionId: "old-id" });
  const result = await world.launch(silent, "resume");
  expect(result).toMatchObject({ launched: true, agentSessionId: expect.stringMatching(/^s-/) });
  expect(world.state(silent).agentSessionId).toMatch(/^s-/);
});

test("[CHAT-42] a load that fails for another reason keeps the conversation's id", async () => {
  await using world = new AcpWorld({ deadlines: { retryMs: 10 } });
  const id = await world.create("forgets-sessions", { env: { FORGETS_WITH: "-32603" } });
  await prompted(world, id);
  expect(await world.launch(id, "resume")).toMatchObject({ launched: false, conversationGone: false });
  expect(world.state(id).agentSessionId).toBe("old-id");
});

test.each([
  ["lists it no more", { LISTS: '["other"]' }, true],
  ["still lists it", { LISTS: '["other","old-id"]' }, false],
  ["has no list", {}, false],
])("[CHAT-41] after an unclear refusal, the conversation is gone if the agent %s", async (_says, env, gone) => {
  await using world = new AcpWorld({ deadlines: { retryMs: 10 } });
  const notFound = [{ code: -32_002, message: null, confirm: "list" as const }];
  const id = await world.create("forgets-sessions", { env, notFound });
  await prompted(world, id);
  expect(await world.launch(id, "resume")).toMatchObject({ launched: false, conversationGone: gone });
});

test("[CHAT-49] an agent finds its files in the launch's own directory, and is run without the script before it", async () => {
  await using world = new AcpWorld();
  const script = join(world.directory, "script");
  writeFileSync(script, "#!/bin/sh\nexit 1\n", { mode: 0o700 });
  const agent = join(import.meta.dirname, "../../test/acp-agents/answers-twice.ts");
  const id = await world.up("answers-twice", {
    command: [script, agent],
    program: (path) => (path === script ? process.execPath : null),
    files: [{ name: "settings.json", text: "{}\n" }],
    env: { SETTINGS: "{hooks}/settings.json" },
  });
  const { run } = world.state(id);
  const pid = run.run === "up" ? run.agent?.pid : undefined;
  const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  expect(environment).toContain(`SETTINGS=${join(world.files(id), "settings.json")}`);
  expect(readFileSync(join(world.files(id), "settings.json"), "utf8")).toBe("{}\n");
});

test("[CHAT-43] an agent that requires a sign-in is reported, instead of hanging", async () => {
  await using world = new AcpWorld();
  const id = await world.create("auth-required");
  const result = await world.launch(id);
  expect(result).toMatchObject({ launched: false, reason: expect.stringMatching(/not signed in.*Log in/) });
  expect(world.events(id)).toContainEqual(expect.objectContaining({ type: "auth.required" }));
  expect(world.everything({ id })).toEqual([]);
});

test("[CHAT-44] an agent that never answers is given up after its deadline, and nothing of it is left", async () => {
  await using world = new AcpWorld({ deadlines: { initializeMs: 300 } });
  const id = await world.create("never-answers-initialize");
  const result = await world.launch(id);
  expect(result).toMatchObject({ launched: false, reason: "The agent did not answer initialize in time." });
  expect(world.everything({ id })).toEqual([]);
  expect(world.runtime.mayHaveLeft(world.state(id))).toBe(false);
});

test("[CHAT-45] deleting asks the living agent to delete its copy, after its turn has ended", async () => {
  await using world = new AcpWorld();
  const id = await world.up("demo");
  await world.send(id, "say: secret");
  await world.ended(id);
  expect(await world.runtime.deleteConversation(world.state(id))).toBe("deleted");
  await stopped(world, id);
  expect(await world.launch(id, "resume")).toMatchObject({ launched: false, conversationGone: true });
  expect(await world.runtime.deleteConversation(world.state(id))).toBe("not-running");
});

async function prompted(world: AcpWorld, id: SessionId): Promise<void> {
  await world.record(
    id,
    { type: "conversation.pinned", agentSessionId: "old-id" },
    { type: "prompt.admitted", promptId: "p-0" as never, text: "an old prompt", by: "person" },
    { type: "prompt.sent", promptId: "p-0" as never, seenBy: "in" },
  );
}

async function stopped(world: AcpWorld, id: SessionId): Promise<void> {
  const { run } = world.state(id);
  const { exit, lastLines, remaining } = await world.runtime.stop(world.state(id), stopping);
  expect(remaining).toEqual([]);
  if (run.run !== "up") throw new Error("it was not up");
  await world.record(id, { type: "run.ended", launch: run.launch, how: "stopped", exit, uptimeMs: 0, lastLines });
}
