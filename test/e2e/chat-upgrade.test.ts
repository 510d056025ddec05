import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { anotherBuild } from "../harness/another-build.ts";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

test("[CHAT-95] a daemon of another build takes over in mid-turn, and replaces no agent that it would launch the same way", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two");
  await home.says(id, "one\n");
  const agent = await home.agent(id);
  expect(await home.run(anotherBuild(home, "upgraded"), ["restart"])).toMatchObject({ code: 0 });
  expect(home.daemon().build).toBe("9.9.9+upgraded");
  home.openGate("a");
  expect(await home.ended(id)).toMatchObject([{ text: "one\ntwo\n", stopReason: "end_turn" }]);
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
  expect(await home.call("workers", id)).toMatchObject([{ session: id, stale: false, pid: agent.pid }]);
  expect(await home.agent(id)).toEqual(agent);
});

test("[CHAT-96] an agent of an older build finishes its turn, shown as stale, and is then replaced with its context", async () => {
  await using home = await ChatHome.open();
  const busy = await home.chat("say: one\ngate: a\nsay: two");
  const idle = await home.chat("say: hello");
  await home.says(busy, "one\n");
  await home.ended(idle);
  const [before, idleBefore] = [await home.agent(busy), await home.agent(idle)];
  const command = anotherBuild(home, "newer");
  appendFileSync(join(home.directory, "newer/dist/demo-acp.cjs"), "\n// newer\n");
  expect(await home.run(command, ["restart"])).toMatchObject({ code: 0 });
  await until("the idle one to be replaced", async () => (await home.agent(idle)).pid !== idleBefore.pid);
  // Not both in the same observation: the deadline may pass between the two.
  const stale = await until("the busy one to be shown as stale", async () =>
    (await home.call("workers", busy)).find((one) => one.session === busy && one.stale),
  );
  expect(stale.pid).toBe(before.pid);
  expect((await home.show(busy)).status).toBe("working");
  home.openGate("a");
  expect(await home.ended(busy)).toMatchObject([{ text: "one\ntwo\n", stopReason: "end_turn" }]);
  await until("it to be replaced", async () => (await home.agent(busy)).pid !== before.pid);
  for (const id of [busy, idle]) {
    expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
    expect(await home.ofType(id, "context.reset")).toEqual([]);
  }
  expect((await home.call("workers", busy)).map(({ stale }) => stale)).toEqual([false, false]);
});
