import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

test("[CHAT-124] prompts queue behind a turn, across a crash, and can be edited, moved and withdrawn meanwhile", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two");
  await home.says(id, "one\n");
  for (const name of ["x", "y", "z", "w"]) {
    const receipt = await home.send(id, `say: ${name}`, { promptId: `p-${name}`, waitMs: 0 });
    expect(receipt).toMatchObject({ disposition: "queued" });
  }
  const edit = (name: string, body: { text?: string; position?: number; withdraw?: boolean }) =>
    home.call("promptEdit", id, { params: { prompt: `p-${name}` }, body });
  await edit("x", { text: "say: x, edited" });
  await edit("z", { position: 0 });
  const { prompts } = await edit("w", { withdraw: true });
  expect(prompts.map(({ promptId, text }) => [promptId, text])).toEqual([
    ["p-z", "say: z"],
    ["p-x", "say: x, edited"],
    ["p-y", "say: y"],
  ]);
  await home.crash();
  await home.ok(["start"]);
  expect((await home.call("queue", id)).prompts).toEqual(prompts);
  home.openGate("a");
  const turns = await home.ended(id, 4);
  expect(turns.map(({ text }) => text)).toEqual(["one\ntwo\n", "z\n", "x, edited\n", "y\n"]);
  await expect(edit("z", { text: "too late" })).rejects.toThrow("That prompt is no longer queued.");
  expect((await home.turn(id, "history?")).text).toContain("turns=4 ");
});

test("[CHAT-125] a waiting client gets the turn's text and stop reason, also when it asks again", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  const ask = () => home.send(id, "say: once", { promptId: "p-1", waitForTurn: true });
  const once = {
    promptId: "p-1",
    disposition: "delivered",
    reason: null,
    turn: { stopReason: "end_turn", text: "once\n" },
  };
  expect(await ask()).toEqual(once);
  expect(await ask()).toEqual(once);
  expect(await home.turns(id)).toHaveLength(1);
  await expect(home.send(id, "say: other", { promptId: "p-1" })).rejects.toThrow("already used with a different text");
  expect(await home.turn(id, "fail: by design")).toEqual({ stopReason: "error", text: "", message: "by design" });
  const asking = home.turn(id, "say: first\nask: may I?");
  await home.status(id, "needs_input");
  await home.answer(id, { answer: "deny" });
  expect(await asking).toMatchObject({ stopReason: "end_turn", text: expect.stringMatching(/^first\n/) as string });
  await home.call("stop", id, { body: {} });
  expect(await home.turn(id, "say: from down")).toEqual({ stopReason: "end_turn", text: "from down\n" });
});

test("[CHAT-126] [SESSION-26] a waiting client is notified when the prompt is withdrawn or the session is stopped", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: never");
  await home.says(id, "one\n");
  const queued = { disposition: "queued", reason: "a turn is in progress" };
  expect(await home.send(id, "say: p-1", { promptId: "p-1", waitMs: 0 })).toMatchObject(queued);
  /** Their receipts are still pending: the caller waits for the turn. */
  const [first, second, third] = ["p-1", "p-2", "p-3"].map((promptId) =>
    home.send(id, `say: ${promptId}`, { promptId, waitForTurn: promptId !== "p-2" }),
  );
  await until("all to wait", async () => (await home.call("queue", id)).prompts.length === 3);
  await home.call("promptEdit", id, { params: { prompt: "p-1" }, body: { withdraw: true } });
  const withdrawn = { promptId: "p-1", disposition: "refused", reason: "withdrawn by person" };
  expect(await first).toEqual(withdrawn);
  expect(await home.send(id, "say: p-1", { promptId: "p-1" })).toEqual(withdrawn);
  await home.call("kill", id, { body: {} });
  const killed = { disposition: "refused", reason: expect.stringContaining("the session was killed") as string };
  expect(await second).toMatchObject(killed);
  expect(await third).toMatchObject(killed);
  // A receipt is a promise: a restore does not send a refused prompt.
  await home.call("restore", id, { body: {} });
  expect((await home.call("queue", id)).prompts).toEqual([]);
  expect((await home.turn(id, "say: back")).text).toBe("back\n");
  expect(await home.said(id)).not.toMatch(/p-[123]/);
});

test("[CHAT-127] a cancel lets the agent end the turn; force-end requires a running turn", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: never");
  await home.says(id, "one\n");
  expect(await home.call("cancel", id, { body: {} })).toEqual({
    cancelled: true,
    stopReason: "cancelled",
    reason: null,
  });
  expect(await home.call("cancel", id, { body: {} })).toMatchObject({
    cancelled: false,
    reason: "No turn is in flight.",
  });
  await expect(home.call("endTurn", id, { body: {} })).rejects.toThrow("No turn is in flight.");
  await home.send(id, "say: two\ngate: late\nsay: too late");
  await home.says(id, "two\n");
  await home.crash();
  await home.ok(["start"]);
  await home.call("endTurn", id, { body: {} });
  expect(await home.turns(id)).toMatchObject([
    { text: "one\n", stopReason: "cancelled" },
    { text: "two\n", stopReason: "forced" },
  ]);
  home.openGate("late");
  expect((await home.turn(id, "say: three")).stopReason).toBe("end_turn");
});

test("[CHAT-128] the chosen mode and model apply again after the agent is replaced", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat();
  await home.turn(id, "say: hello");
  await home.call("configure", id, { body: { mode: "plan" } });
  await home.call("configure", id, { body: { option: { id: "model", value: "demo-large" } } });
  await home.call("acpRestart", id, { body: {} });
  expect((await home.turn(id, "mode?\nmodel?")).text).toBe("mode: plan\nmodel: demo-large\n");
});

test("[CHAT-129] a session moves between terminal and chat with its conversation, and starts over only on request", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: in the chat");
  await home.ended(id);
  const conversation = (await home.show(id)).agentSessionId;
  await home.call("convert", id, { body: { kind: "terminal" } });
  expect(await home.show(id)).toMatchObject({ kind: "terminal", agentSessionId: conversation });
  expect(home.tree(id).filter(({ what }) => what.includes("demo-acp"))).toEqual([]);
  await home.status(id, "idle");
  expect(await home.send(id, "say: in the terminal")).toMatchObject({ disposition: "delivered" });
  // It is also idle before it starts: the turn is over when the agent has written it to disk.
  const kept = `${home.userHome}/.local/state/holdfast-demo/${conversation}.jsonl`;
  await until("the turn", () => readFileSync(kept, "utf8").includes("in the terminal"));
  await home.status(id, "idle");
  await home.call("convert", id, { body: { kind: "chat" } });
  expect(await home.show(id)).toMatchObject({ kind: "chat", agentSessionId: conversation });
  expect((await home.turn(id, "history?")).text).toContain("turns=2 ");
  await home.call("convert", id, { body: { kind: "terminal", fresh: true } });
  await home.call("convert", id, { body: { kind: "chat" } });
  expect((await home.turn(id, "history?")).text).toContain("turns=0 ");
  expect((await home.show(id)).agentSessionId).not.toBe(conversation);
});

test("[CHAT-130] /clear continues in a new conversation, which is the one resumed later", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: before");
  await home.ended(id);
  const first = (await home.show(id)).agentSessionId;
  await home.turn(id, "/clear");
  await home.turn(id, "say: after");
  const second = await until("another id", async () => {
    const { agentSessionId } = await home.show(id);
    return agentSessionId !== first && agentSessionId;
  });
  const { pid } = await home.agent(id);
  process.kill(pid, "SIGKILL");
  // On a busy machine it dies some time after the kill, and may still receive a prompt.
  await until("the agent to be gone", () => !isRunning(pid));
  expect((await home.turn(id, "history?")).text).toMatch(/turns=[12] /);
  expect((await home.show(id)).agentSessionId).toBe(second);
  expect(await home.ofType(id, "context.reset")).toEqual([]);
});
