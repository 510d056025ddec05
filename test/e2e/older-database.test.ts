/** A database that is older than its home: a backup was restored, or its last writes were lost. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

const parts = ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm"];

/** Copies the database while no daemon runs, then restarts it. */
async function backUp(home: ChatHome): Promise<void> {
  await home.ok(["stop"]);
  mkdirSync(join(home.directory, "backup"));
  for (const name of parts) copy(join(home.home, name), join(home.directory, "backup", name));
  await home.ok(["start"]);
}

/** Follows the advice after damage: the copy replaces the database, then a start. */
async function putBack(home: ChatHome): Promise<void> {
  await home.ok(["stop"]);
  for (const name of parts) rmSync(join(home.home, name), { force: true });
  for (const name of parts) copy(join(home.directory, "backup", name), join(home.home, name));
  await home.ok(["start"]);
}

function copy(from: string, to: string): void {
  if (existsSync(from)) copyFileSync(from, to);
}

const gated = "say: before\ngate: a\nsay: after";

async function adopted(home: ChatHome, id: string): Promise<void> {
  await until(`${id} to be adopted`, async () => (await home.ofType(id, "launch.adopted")).length > 0);
}

/** As `doctor` advises, so that nothing is left. */
async function endUnknown(home: ChatHome, terminal: string, chatAgent: number): Promise<void> {
  const target = `=worker-my-app-${terminal}`;
  expect(await home.run("tmux", ["-L", home.paths.tmuxSocket, "kill-session", "-t", target])).toMatchObject({
    code: 0,
  });
  process.kill(chatAgent, "SIGTERM");
  await until("the agent to be gone", () => !isRunning(chatAgent));
}

test("[HOME-6] sessions that an older database does not know keep running next to new ones with different ids", async () => {
  await using home = await ChatHome.open();
  await home.spawn();
  await backUp(home);
  const terminal = await home.spawn("--prompt", "say: hello");
  await home.status(terminal.id, "idle");
  const chat = await home.show(await home.chat(gated));
  await home.says(chat.id, "before");
  const killed = await home.spawn();
  await home.ok(["session", "kill", killed.id]);
  const pids = [(await home.agent(terminal.id)).pid, await home.pidOf(chat.id, "agent")];
  for (const { workspacePath } of [terminal, chat]) writeFileSync(join(workspacePath, "draft.txt"), "not committed\n");
  await putBack(home);

  const unknown = [terminal.id, chat.id, killed.id];
  const fresh = [
    await home.spawn(),
    await home.spawn(),
    await home.show(await home.chat()),
    await home.show(await home.chat()),
  ];
  for (const { id, workspacePath } of fresh) {
    expect(unknown).not.toContain(id);
    expect(existsSync(join(workspacePath, "draft.txt"))).toBe(false);
  }
  expect(new Set(fresh.map(({ id }) => id)).size).toBe(4);
  await home.ok(["restart"]);
  expect(pids.map(isRunning)).toEqual([true, true]);
  for (const { workspacePath } of [terminal, chat])
    expect(readFileSync(join(workspacePath, "draft.txt"), "utf8")).toBe("not committed\n");
  expect(home.output(chat.id)).toContain("before");

  const report = (await home.cli(["doctor"])).stdout;
  for (const id of [terminal.id, chat.id]) expect(report).toContain(id);
  expect(report).toContain(`pid ${pids[1]}`);
  await endUnknown(home, terminal.id, pids[1]!);
  await until("their trees to be gone", () => home.tree(terminal.id).length + home.tree(chat.id).length === 0);
});

test("[HOME-7] with an older database, agents relaunched since are adopted, and a turn in progress is read to its end", async () => {
  await using home = await ChatHome.open();
  const terminal = await home.spawn("--prompt", "say: hello");
  await home.status(terminal.id, "idle");
  const chat = await home.chat("say: first");
  await home.ended(chat);
  await backUp(home);
  await home.ok(["session", "stop", terminal.id]);
  await home.ok(["session", "restore", terminal.id]);
  await home.ok(["acp", "restart", chat]);
  await home.status(chat, "idle");
  await home.send(chat, gated);
  await home.says(chat, "before");
  const pids = [(await home.agent(terminal.id)).pid, await home.pidOf(chat, "agent")];
  await putBack(home);

  await adopted(home, terminal.id);
  await adopted(home, chat);
  expect(pids.map(isRunning)).toEqual([true, true]);
  expect([(await home.agent(terminal.id)).pid, await home.pidOf(chat, "agent")]).toEqual(pids);
  expect((await home.show(chat)).status).toBe("working");
  await home.says(chat, "before");
  home.openGate("a");
  await home.says(chat, "after");
  expect((await home.ended(chat, 2)).at(-1)).toMatchObject({ stopReason: "end_turn" });
  // It accepts prompts, and no replayed item is shown twice.
  expect((await home.turn(chat, "say: more")).text).toContain("more");
  expect(await home.pidOf(chat, "agent")).toBe(pids[1]);
  expect((await home.said(chat)).split("first")).toHaveLength(2);
  expect((await home.ofType(terminal.id, "launch.started")).length).toBe(1);
  const killed = await home.ok(["session", "kill", chat]);
  expect(killed).toContain(`Session ${chat} killed.`);
  expect(isRunning(pids[1]!)).toBe(false);
});

test("[HOME-7] with an older database, prompts already sent are not sent again, and the agent is not replaced for them", async () => {
  await using home = await ChatHome.open();
  const chat = await home.chat("say: first");
  await home.ended(chat);
  const pid = await home.pidOf(chat, "agent");
  await backUp(home);
  await home.turn(chat, "say: second");
  await home.send(chat, gated);
  await home.says(chat, "before");
  await putBack(home);
  await home.says(chat, "second");
  await home.status(chat, "working");
  const next = home.send(chat, "say: last", { waitForTurn: true });
  home.openGate("a");
  expect((await next).turn?.text).toContain("last");
  expect(await home.pidOf(chat, "agent")).toBe(pid);
  const said = await home.said(chat);
  for (const word of ["first", "second", "before", "after", "last"]) expect(said.split(word), word).toHaveLength(2);
});

test("[HOME-7] a session converted since gets no second agent: the live one of the other kind is adopted", async () => {
  await using home = await ChatHome.open();
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  await backUp(home);
  await home.ok(["session", "convert", id, "--kind", "chat", "--fresh"]);
  await home.send(id, gated);
  await home.says(id, "before");
  const pid = await home.pidOf(id, "agent");
  await putBack(home);
  await adopted(home, id);
  expect(await home.show(id)).toMatchObject({ kind: "chat" });
  expect(await home.pidOf(id, "agent")).toBe(pid);
  home.openGate("a");
  await home.says(id, "after");
  expect((await home.ofType(id, "launch.started")).length).toBe(1);
});

test("[HOME-8] with an older database, sessions restored or resumed since are running, with a notice", async () => {
  await using home = await ChatHome.open();
  const terminal = await home.spawn("--prompt", "say: hello");
  await home.status(terminal.id, "idle");
  const chat = await home.chat("say: first");
  await home.ended(chat);
  const stopped = await home.spawn();
  for (const id of [terminal.id, chat]) await home.ok(["session", "kill", id]);
  await home.ok(["session", "stop", stopped.id]);
  await backUp(home);
  for (const id of [terminal.id, chat, stopped.id]) await home.ok(["session", "restore", id]);
  await home.send(chat, gated);
  await home.says(chat, "before");
  const pids = [
    (await home.agent(terminal.id)).pid,
    await home.pidOf(chat, "agent"),
    (await home.agent(stopped.id)).pid,
  ];
  await putBack(home);
  for (const id of [terminal.id, chat, stopped.id]) {
    await adopted(home, id);
    expect(await home.show(id)).toMatchObject({ intent: { want: "running", by: "recovery" } });
    const notices = await home.ofType(id, "notice");
    expect(notices.at(-1)?.["text"]).toContain(`holdfast session kill ${id}`);
  }
  expect(pids.map(isRunning)).toEqual([true, true, true]);
  home.openGate("a");
  await home.says(chat, "after");
  // For the record the worktree is in its place again, so the next kill moves it.
  await home.ok(["session", "kill", terminal.id]);
  expect(existsSync(terminal.workspacePath)).toBe(false);
  await home.ok(["session", "restore", terminal.id]);
});

test("[HOME-9] with an older database, sessions killed or deleted since stay down, and can be restored", async () => {
  await using home = await ChatHome.open();
  const terminal = await home.spawn("--prompt", "say: hello");
  await home.status(terminal.id, "idle");
  const chat = await home.show(await home.chat("say: first"));
  await home.ended(chat.id);
  const deleted = await home.spawn();
  writeFileSync(join(terminal.workspacePath, "draft.txt"), "not committed\n");
  await backUp(home);
  await home.ok(["session", "kill", terminal.id]);
  await home.ok(["session", "kill", chat.id]);
  await home.ok(["session", "delete", deleted.id, "--yes"]);
  await putBack(home);
  for (const { id, workspacePath } of [terminal, chat, deleted]) {
    await home.status(id, "killed");
    expect(existsSync(workspacePath)).toBe(false);
    expect((await home.ofType(id, "launch.started")).length).toBe(1);
    expect((await home.ofType(id, "notice")).at(-1)?.["text"]).toContain(`holdfast session restore ${id}`);
  }
  expect(readdirSync(home.paths.trash).filter((name) => !name.startsWith("."))).toHaveLength(3);
  await home.ok(["session", "restore", terminal.id]);
  expect(readFileSync(join(terminal.workspacePath, "draft.txt"), "utf8")).toBe("not committed\n");
});

test("[HOME-6] [HOME-7] deleting the write-ahead log under running agents stops none of them", async () => {
  await using home = await ChatHome.open();
  await backUp(home);
  const terminal = await home.spawn("--prompt", "say: hello");
  const chat = await home.chat(gated);
  await home.says(chat, "before");
  const pids = [(await home.agent(terminal.id)).pid, await home.pidOf(chat, "agent")];
  await home.crash();
  for (const name of parts.slice(1)) rmSync(join(home.home, name), { force: true });
  await home.ok(["start"]);
  const fresh = [await home.spawn(), await home.show(await home.chat())];
  for (const { id } of fresh) expect([terminal.id, chat]).not.toContain(id);
  expect(pids.map(isRunning)).toEqual([true, true]);
  await endUnknown(home, terminal.id, pids[1]!);
  await until("their trees to be gone", () => home.tree(terminal.id).length + home.tree(chat).length === 0);
});
