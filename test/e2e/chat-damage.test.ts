import { appendFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { endMarked } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

test("[CHAT-137] a damaged, foreign or missing record prevents no chat from being adopted", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  const agent = await home.agent(id);
  const record = join(home.paths.workers, id, "record.json");
  for (const damage of [
    () => writeFileSync(record, '{"version":1,"sess'),
    () => writeFileSync(record, ""),
    () => writeFileSync(record, '{"version":2}'),
    () => rmSync(record),
  ]) {
    await home.crash();
    damage();
    await home.ok(["start"]);
    expect(await home.agent(id)).toEqual(agent);
    expect((await home.turn(id, "say: again")).text).toBe("again\n");
  }
  await home.call("stop", id, { body: {} });
  expect(home.tree(id)).toEqual([]);
});

test("[CHAT-138] nothing more is written to an altered `in`: the agent is replaced and the prompt arrives once", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  let { pid } = await home.agent(id);
  const damages = [(file: string) => appendFileSync(file, "not ours\n"), (file: string) => truncateSync(file, 10)];
  for (const [at, damage] of damages.entries()) {
    damage(join(home.launchDirectory(id), "in"));
    if (at === 1) {
      await home.crash();
      await home.ok(["start"]);
    }
    const name = `after damage ${at}`;
    expect(await home.turn(id, `say: ${name}`)).toEqual({ stopReason: "end_turn", text: `${name}\n` });
    expect((await home.agent(id)).pid).not.toBe(pid);
    ({ pid } = await home.agent(id));
  }
  expect((await home.turn(id, "history?")).text).toContain("turns=3 ");
});

test("[CHAT-139] garbage in `out`, and a truncated `out`, are reported; the turn continues and can be force-ended", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two");
  await home.says(id, "one\n");
  const out = join(home.launchDirectory(id), "out");
  await home.crash();
  appendFileSync(out, "no JSON at all\n");
  await home.ok(["start"]);
  const session = await until("the damage to be reported", async () => {
    const now = await home.show(id);
    return now.reason !== null && now;
  });
  expect(session).toMatchObject({
    status: "working",
    reason: "part of the answer may be lost; you can force-end the turn",
  });
  truncateSync(out, 0);
  home.openGate("a");
  expect(await home.ended(id)).toMatchObject([{ text: "one\ntwo\n", stopReason: "end_turn" }]);
  expect((await home.ofType(id, "output.damaged")).map((event) => event["what"])).toEqual(["unparsable", "shrunk"]);
  expect((await home.turn(id, "say: three")).text).toBe("three\n");
});

test("[CHAT-140] leftover launches of an earlier daemon are removed; unrelated files do no harm", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  await home.crash();
  for (const name of ["stranger", ".gone-half"]) {
    const directory = join(home.paths.workers, name === "stranger" ? name : `${id}/${name}`);
    await home.run("mkdir", ["-p", directory]);
    writeFileSync(join(directory, "out"), "");
  }
  await home.ok(["start"]);
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
  await home.call("stop", id, { body: {} });
  await home.turn(id, "say: again");
  expect(
    readdirSync(join(home.paths.workers, id)).filter((name) => name !== "record.json" && name !== "err.log"),
  ).toHaveLength(1);
});

test("[CHAT-141] with another boot id every earlier agent counts as gone: its output is read, and it is restarted", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: one\ngate: a\nsay: two\ngate: never");
  await home.says(id, "one\n");
  await home.crash();
  home.openGate("a");
  await until("the agent to write on", () => home.output(id).includes("two"));
  await endMarked(home.tree(id));
  home.env["HOLDFAST_TEST_BOOT_ID"] = "another-boot";
  await home.ok(["start"]);
  expect(await home.ended(id)).toMatchObject([{ text: "one\ntwo\n", stopReason: "orphaned_at_restart" }]);
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
  expect((await home.ofType(id, "run.ended")).map((event) => event["how"])).toEqual(["lost"]);
});
