import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

test("[CHAT-115] an agent that never answers is a failed start, with the reason", async () => {
  await using home = await ChatHome.open(
    { silent: { program: "never-answers-initialize" } },
    { HOLDFAST_TEST_INITIALIZE_MS: "1000" },
  );
  await expect(home.chat("hello", "silent")).rejects.toThrow("The agent did not answer initialize in time.");
  expect(await home.show("ma-1")).toMatchObject({
    status: "failed",
    reason: "The agent did not answer initialize in time.",
    queued: 1,
  });
  expect(home.tree("ma-1")).toEqual([]);
  expect(await home.ofType("ma-1", "launch.started")).toHaveLength(1);
});

test("[CHAT-115] a hanging start blocks nothing and can be killed immediately, also by the next daemon", async () => {
  await using home = await ChatHome.open({ silent: { program: "never-answers-initialize" } });
  const other = await home.chat();
  for (const restart of [false, true]) {
    const spawned = home.chat("hello", "silent").catch(() => null);
    const id = restart ? "ma-3" : "ma-2";
    await until("its agent", () => home.tree(id).length >= 4);
    if (restart) {
      await home.crash();
      await spawned;
      await home.ok(["start"]);
    }
    const said = (await home.turn(other, "say: meanwhile")).text;
    expect([said, (await home.show(id)).status]).toEqual(["meanwhile\n", "starting"]);
    expect(await home.call("kill", id, { body: {} })).toMatchObject({ done: true, session: { status: "killed" } });
    expect(home.tree(id)).toEqual([]);
    await spawned;
  }
});

test("[CHAT-116] an agent that dies in mid-turn is restarted, its prompt is not sent twice, and it is given up after three deaths", async () => {
  await using home = await ChatHome.open({ dying: { program: "dies-mid-turn" } });
  const id = await home.chat("one", "dying");
  for (let n = 2; n <= 3; n++) {
    await home.ended(id, n - 1);
    await home.send(id, `prompt ${n}`);
  }
  const session = await home.status(id, "failed");
  expect(session.reason).toBe("crashed 3 times within 60 s, last signal SIGKILL");
  expect(session.end).toMatchObject({ how: "crash", signal: "SIGKILL" });
  // Its exit is recorded first; its remaining output is read and cleared afterwards.
  await until("nothing of it to be left", () => home.tree(id).length === 0);
  await home.ended(id, 3);
  expect(await home.turns(id)).toMatchObject(
    Array.from({ length: 3 }, () => ({ text: "last words", stopReason: "orphaned_at_restart" })),
  );
  expect(await home.ofType(id, "prompt.sent")).toHaveLength(3);
  await home.ok(["restart"]);
  expect((await home.show(id)).status).toBe("failed");
  await home.call("restore", id, { body: {} });
  expect((await home.show(id)).status).toBe("idle");
});

test("[CHAT-117] an agent that exits with 0 in mid-turn has exited: it stays down until the next prompt", async () => {
  await using home = await ChatHome.open({ leaving: { program: "dies-mid-turn", env: { DIES_WITH: "0" } } });
  const id = await home.chat("one", "leaving");
  expect((await home.status(id, "exited")).end).toMatchObject({ how: "own-exit", exitCode: 0 });
  expect(await home.ended(id)).toMatchObject([{ text: "last words", stopReason: "orphaned_at_restart" }]);
  await home.ok(["restart"]);
  expect((await home.show(id)).status).toBe("exited");
  await home.send(id, "two");
  await home.ended(id, 2);
  expect(await home.ofType(id, "launch.started")).toHaveLength(2);
});

test("[CHAT-118] an agent that exits immediately fails with its last output and is not restarted forever", async () => {
  await using home = await ChatHome.open({ broken: { program: "exits-at-once" } });
  await expect(home.chat("hello", "broken")).rejects.toThrow("cannot start: no key is set");
  const session = await home.show("ma-1");
  expect(session).toMatchObject({ status: "failed", queued: 1 });
  expect(session.reason).toContain("cannot start: no key is set");
  await home.ok(["restart"]);
  expect((await home.show("ma-1")).status).toBe("failed");
  expect((await home.ofType("ma-1", "launch.started")).length).toBeLessThanOrEqual(3);
  expect((await home.call("acpLogs", "ma-1")).lines).toEqual(["cannot start: no key is set"]);
});

test("[CHAT-119] an agent that exits during a relaunch counts as a crash: one is not a failure, three within a minute are", async () => {
  await using home = await ChatHome.open();
  const counter = (name: string): string => join(home.directory, name);
  home.configure({
    once: { program: "exits-at-once", env: { EXITS_LEFT: counter("once") } },
    ever: { program: "exits-at-once", env: { EXITS_LEFT: counter("ever") } },
  });
  await home.trust();
  const [once, ever] = [await home.chat(undefined, "once"), await home.chat(undefined, "ever")];
  writeFileSync(counter("once"), "1");
  writeFileSync(counter("ever"), "9");
  const before = await home.agent(once);
  for (const id of [once, ever]) process.kill(await home.pidOf(id, "agent"), "SIGKILL");
  const failed = await home.status(ever, "failed");
  expect(failed.reason).toBe("crashed 3 times within 60 s, last exit code 1");
  expect(failed.end).toMatchObject({ how: "crash", exitCode: 1, lastLines: ["cannot start: no key is set"] });
  expect(await home.ofType(ever, "launch.started")).toHaveLength(3);
  await until("the other to be back", async () => (await home.agent(once)).pid !== before.pid);
  await home.status(once, "idle");
  expect((await home.ofType(once, "run.ended")).map((event) => event["how"])).toEqual(["crash", "crash"]);
  expect(await home.ofType(once, "launch.failed")).toEqual([]);
  // The caller gets the first failure.
  await expect(home.call("restore", ever, { body: {} })).rejects.toThrow("cannot start: no key is set");
  expect(await home.ofType(ever, "launch.started")).toHaveLength(4);
});

test("[CHAT-120] an agent that is not signed in fails with that reason, and nothing hangs", async () => {
  await using home = await ChatHome.open({ locked: { program: "auth-required" } });
  await expect(home.chat("hello", "locked")).rejects.toThrow("The agent is not signed in");
  const session = await home.show("ma-1");
  expect(session.status).toBe("failed");
  expect(session.reason).toContain("Ways to sign in: Log in.");
  expect(await home.ofType("ma-1", "auth.required")).toHaveLength(1);
  expect(home.tree("ma-1")).toEqual([]);
});

test("[CHAT-121] invalid lines, a surplus response and unknown notifications affect neither this turn nor the next", async () => {
  await using home = await ChatHome.open({
    garbled: { program: "invalid-json" },
    twice: { program: "answers-twice" },
    odd: { program: "unknown-notifications" },
  });
  const garbled = await home.chat("one", "garbled");
  const twice = await home.chat("one", "twice");
  const odd = await home.chat("one", "odd");
  for (const id of [garbled, twice, odd]) await home.send(id, "two");
  expect(await home.ended(garbled, 2)).toMatchObject(
    [1, 2].map(() => ({ text: "beforeafter", stopReason: "end_turn" })),
  );
  expect((await home.ofType(garbled, "output.damaged")).map((event) => event["what"])).toContain("unparsable");
  expect(await home.ended(twice, 2)).toMatchObject([1, 2].map(() => ({ text: "once", stopReason: "end_turn" })));
  expect(await home.ended(odd, 2)).toMatchObject(
    [1, 2].map(() => ({ text: "answered -32601", stopReason: "end_turn" })),
  );
});

test("[CHAT-122] a flood and an oversized line neither grow the daemon nor delay others", async () => {
  await using home = await ChatHome.open({
    flooding: { program: "floods", env: { FLOODS_MB: "60" } },
    huge: { program: "one-huge-line", env: { HUGE_LINE_BYTES: String(80 * 1024 * 1024) } },
  });
  const other = await home.chat();
  const flooding = await home.chat("go", "flooding");
  const huge = await home.chat("go", "huge");
  expect((await home.turn(other, "say: still here")).text).toBe("still here\n");
  expect(await home.ended(huge, 1, 50_000)).toMatchObject([{ text: "after the huge line", stopReason: "end_turn" }]);
  expect(await home.ofType(huge, "output.damaged")).toMatchObject([{ what: "oversized" }]);
  await until("the flood to end", async () => (await home.show(flooding)).status === "idle", 50_000);
  const peak = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${home.daemon().pid}/status`, "utf8"))?.[1]);
  expect(peak).toBeLessThan(300 * 1024);
}, 120_000);

test("[CHAT-123] a conversation that the agent no longer has is reset visibly, and the recap contains the earlier text", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: before the reset");
  await home.ended(id);
  const conversation = (await home.show(id)).agentSessionId!;
  await home.call("stop", id, { body: {} });
  await home.run("rm", [`${home.userHome}/.local/state/holdfast-demo/${conversation}.jsonl`]);
  expect((await home.turn(id, "history?")).text).toContain("turns=0 ");
  const [reset] = await home.ofType(id, "context.reset");
  expect(reset).toMatchObject({ previous: conversation });
  const primer = await home.call("primer", id, { query: { before_seq: reset!.seq } });
  expect(primer).toMatchObject({ turns: 1, omitted: 0 });
  expect(primer.markdown).toContain("before the reset");
  expect(primer.markdown).not.toContain("history?");
  // Offered to every client until one dismisses it, permanently.
  const offered = async () => !(await home.call("transcript", id, { query: { tail: 1 } })).primerUsed;
  expect(await offered()).toBe(true);
  await home.call("primerDismiss", id, { body: {} });
  expect(await offered()).toBe(false);
  await home.crash();
  await home.ok(["start"]);
  expect(await offered()).toBe(false);
});

test("[CHAT-123] so is that of an agent that forgets its sessions when it exits", async () => {
  await using home = await ChatHome.open({ forgetful: { program: "forgets-sessions" } });
  const id = await home.chat("one", "forgetful");
  await home.ended(id);
  await home.call("acpRestart", id, { body: {} });
  expect((await home.turn(id, "two")).stopReason).toBe("end_turn");
  expect(await home.ofType(id, "context.reset")).toHaveLength(1);
});
