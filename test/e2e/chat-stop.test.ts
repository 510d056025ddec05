import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

test("[CHAT-104] stop in mid-turn cancels first, leaves no process, and loses nothing of the turn", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ntool: sleep 1000");
  await until("the tool to run", () => home.tree(id).some(({ what }) => what === "sleep 1000"));
  const answer = await home.call("stop", id, { body: {} });
  expect(answer).toMatchObject({ done: true, remaining: [], session: { status: "stopped" } });
  expect(home.tree(id)).toEqual([]);
  expect(await home.turns(id)).toMatchObject([{ text: "one\n", stopReason: "cancelled" }]);
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
  expect((await home.show(id)).status).toBe("idle");
});

test("[CHAT-105] stop, acp kill, kill and delete stop children in their own process sessions and agents that ignore SIGTERM", async () => {
  await using home = await ChatHome.open({
    setsids: { program: "setsids-children" },
    stubborn: { program: "ignores-sigterm" },
  });
  const ids = await Promise.all([
    ...["stop", "acpKill", "kill", "delete"].map(() => home.chat("go", "setsids")),
    home.chat("go", "stubborn"),
  ]);
  const verbs = ["stop", "acpKill", "kill", "delete", "stop"] as const;
  await Promise.all(
    ids.map(async (id, at) => {
      const [turn] = await home.ended(id);
      const pids = home.tree(id).map(({ pid }) => pid);
      const children = [...turn!.text.matchAll(/child (\d+)/g)].map(([, pid]) => Number(pid));
      expect(pids).toEqual(expect.arrayContaining(children));
      expect(pids.length).toBeGreaterThanOrEqual(4);
      expect(await home.call(verbs[at]!, id, { body: {} })).toMatchObject({ done: true, remaining: [] });
      expect(pids.filter(isRunning)).toEqual([]);
      expect(home.tree(id)).toEqual([]);
    }),
  );
});

test("[CHAT-105] stopping an agent that just exited waits for its leftover processes, for one session and for all", async () => {
  await using home = await ChatHome.open({ setsids: { program: "setsids-children" } });
  const ends = [
    async (id: string) =>
      expect(await home.call("stop", id, { body: {} })).toMatchObject({ done: true, remaining: [] }),
    async (id: string) => {
      await home.call("stop", id, { body: { wait: false } });
      await home.ok(["stop", "--halt-sessions", "--yes"]);
    },
  ];
  for (const end of ends) {
    const id = await home.chat("go", "setsids");
    await home.ended(id);
    process.kill((await home.agent(id)).pid, "SIGKILL");
    await until("its end to be recorded", async () => (await home.ofType(id, "run.ended")).length === 1);
    await end(id);
    expect(home.tree(id)).toEqual([]);
  }
});

test("[CHAT-106] deleting a session deletes its conversation; a new session in its place does not know it", async () => {
  await using home = await ChatHome.open();
  const spawn = { project: "my-app", agent: "demo", kind: "chat" as const, issue: "7" };
  const id = await home.chat("say: a secret");
  await home.ended(id);
  const conversation = (await home.show(id)).agentSessionId;
  await home.call("delete", id, { body: {} });
  await expect(home.show(id)).rejects.toThrow("Session not found");
  const next = await home.call("spawn", id, { body: spawn });
  expect(next.id).not.toBe(id);
  expect(next.agentSessionId).not.toBe(conversation);
  expect((await home.turn(next.id, "history?")).text).toContain("turns=0 ");
  const kept = await home.run("grep", ["-rl", "a secret", `${home.userHome}/.local/state/holdfast-demo`]);
  expect(kept.stdout).toBe("");
});

test("[CHAT-106] kill keeps the conversation, and restore resumes it", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: kept");
  await home.ended(id);
  await home.call("kill", id, { body: {} });
  expect(await home.send(id, "say: no")).toMatchObject({ disposition: "refused" });
  expect(home.tree(id)).toEqual([]);
  await home.call("restore", id, { body: {} });
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
});

test("[CHAT-108] snoozed, archived and stopped chats resume their conversation with the next prompt, or by their verb", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one");
  await home.ended(id);
  let turns = 1;
  const down = {
    stopped: () => home.call("stop", id, { body: {} }),
    snoozed: () => home.call("snooze", id, { body: { forMs: 3_600_000 } }),
    archived: () => home.call("archive", id, { body: {} }),
  };
  for (const [status, bringDown] of Object.entries(down)) {
    expect(await bringDown()).toMatchObject({ done: true, session: { status, processes: [] } });
    expect(home.tree(id)).toEqual([]);
    await home.ok(["restart"]);
    expect((await home.show(id)).status).toBe(status);
    expect((await home.turn(id, "history?")).text).toContain(`turns=${turns++} `);
    expect(await home.show(id)).toMatchObject({ status: "idle", intent: { want: "running" } });
  }
  await home.call("snooze", id, { body: { forMs: 400 } });
  await until("its time to come", async () => (await home.show(id)).status === "idle");
  await home.call("archive", id, { body: {} });
  await home.call("unarchive", id, { body: {} });
  expect((await home.turn(id, "history?")).text).toContain(`turns=${turns} `);
  expect(await home.ofType(id, "context.reset")).toEqual([]);
});

test("[CHAT-109] idleStopMinutes stops idle chats, not working or asking ones, and the next prompt resumes them", async () => {
  await using home = await ChatHome.open({}, { HOLDFAST_TEST_MINUTE_MS: "300" });
  const working = await home.chat("say: one\ngate: a\nsay: two");
  const asking = await home.chat("ask: may I?");
  const idle = await home.chat("say: hello");
  await home.says(working, "one\n");
  await home.status(asking, "needs_input");
  const file = join(home.repo, "holdfast.yaml");
  const config = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...config, defaults: { idleStopMinutes: 1 } }));
  const stopped = await home.status(idle, "stopped");
  expect(stopped.intent).toMatchObject({ want: "stopped", by: "idle-stop" });
  await until("nothing of it to be left", () => home.tree(idle).length === 0);
  expect((await home.show(working)).status).toBe("working");
  expect((await home.show(asking)).status).toBe("needs_input");
  home.openGate("a");
  await home.status(working, "stopped");
  expect(await home.turns(working)).toMatchObject([{ text: "one\ntwo\n", stopReason: "end_turn" }]);
  expect((await home.turn(idle, "history?")).text).toContain("turns=1 ");
});

test("[CHAT-107] if the agent keeps its copy of a deleted or discarded conversation, the response and a notice report it", async () => {
  await using home = await ChatHome.open({ keeping: { program: "answers-twice" } });
  const copy = /^keeping keeps its own copy of this conversation \(s-\d+\)\.$/;
  const [running, down, fresh] = [
    await home.chat("hello", "keeping"),
    await home.chat("hello", "keeping"),
    await home.chat(undefined, "keeping"),
  ];
  await home.ended(running);
  await home.ended(down);
  await home.call("stop", down, { body: {} });
  for (const id of [running, down]) {
    const { done, notes } = await home.call("delete", id, { body: {} });
    expect({ done, notes }).toEqual({ done: true, notes: [expect.stringMatching(copy)] });
  }
  expect((await home.call("delete", fresh, { body: {} })).notes).toEqual([]);
  // The demo agent deletes its copy while it runs, and cannot do so otherwise.
  const demo = [await home.chat("say: a secret"), await home.chat("say: another")];
  for (const id of demo) await home.ended(id);
  await home.call("stop", demo[1]!, { body: {} });
  expect((await home.call("delete", demo[0]!, { body: {} })).notes).toEqual([]);
  expect((await home.call("convert", demo[1]!, { body: { kind: "terminal", fresh: true } })).notes).toEqual([
    expect.stringContaining("keeps its own copy of this conversation"),
    expect.stringContaining("requested with --fresh"),
  ]);
  expect(await home.ofType(demo[1]!, "notice")).toHaveLength(1);
});
