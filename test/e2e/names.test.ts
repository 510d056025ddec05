import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

test("[SESSION-53, TERMINAL-12] killing x-1 does not affect x-10", async () => {
  await using home = await ProjectHome.make();
  const one = await home.spawn("1");
  const ten = await home.spawn("10");
  expect([one.id, ten.id]).toEqual(["ma-1", "ma-10"]);
  const agent = await home.agent(ten.id);
  await home.ok(["session", "kill", one.id]);
  expect(await home.agent(ten.id)).toEqual(agent);
  await home.ok(["session", "kill", one.id]);
  expect((await home.status(ten.id, "idle")).id).toBe("ma-10");
});

test("[SESSION-53, WORKTREE-2] odd titles and branches run nothing, and sessions stay separate", async () => {
  await using home = await ProjectHome.make();
  const trap = join(home.directory, "pwned");
  const odd = [`#(touch ${trap})`, "a.b:c", "ünïcödé 漢字", "x".repeat(200), "$(touch x); `id`"];
  const sessions = [];
  for (const name of odd) sessions.push(await home.spawn("--name", name));
  sessions.push(await home.spawn("--branch", "feature/#(touch$IFS/tmp/hf-pwned)"));
  expect(new Set(sessions.map(({ branch }) => branch)).size).toBe(sessions.length);
  for (const { id } of sessions) await home.status(id, "idle");
  expect((await home.show(sessions[0]!.id)).title).toBe(odd[0]);
  await home.ok(["session", "kill", sessions[1]!.id]);
  for (const { id } of [sessions[0]!, ...sessions.slice(2)]) expect((await home.show(id)).processes).toHaveLength(1);
  expect(existsSync(trap) || existsSync("/tmp/hf-pwned")).toBe(false);
});

test("[SESSION-54] an agent that calls the CLI acts under its own name", async () => {
  await using home = await ProjectHome.make();
  const bin = join(import.meta.dirname, "../../bin/holdfast");
  const script = `${bin} spawn my-app 7 --agent demo --kind terminal; exec sleep 1000`;
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    `agents:\n  boss:\n    terminal:\n      command: ["sh", "-c", ${JSON.stringify(script)}]\n`,
  );
  await home.ok(["project", "add", home.repo]);
  const boss = await home.json(["spawn", "my-app", "--agent", "boss", "--kind", "terminal", "--role", "orchestrator"]);
  const worker = await until("the worker", () => home.show("ma-7"));
  expect(worker.intent.by).toBe(`session:${boss.id}`);
});
