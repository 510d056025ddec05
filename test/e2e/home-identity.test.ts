/** A home knows its identity: a copy leaves the original unchanged, and a moved one keeps its agents. */
import { existsSync, lstatSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { isRunning, whileStopped } from "../harness/marked.ts";
import type { Ran } from "../harness/home.ts";
import type { SessionJson } from "../../src/contract/session.ts";

/** A terminal agent, and a chat agent in mid-turn, each with uncommitted work. */
async function withAgents(home: ChatHome): Promise<{ terminal: SessionJson; chat: SessionJson; pids: number[] }> {
  const terminal = await home.spawn("--prompt", "say: hello");
  await home.status(terminal.id, "idle");
  const id = await home.chat("say: before\ngate: gate-1\nsay: after");
  await home.says(id, "before");
  const chat = await home.show(id);
  for (const { workspacePath } of [terminal, chat]) writeFileSync(join(workspacePath, "draft.txt"), "not committed\n");
  const pids = [
    (await home.agent(terminal.id)).pid,
    await home.pidOf(chat.id, "agent"),
    await home.pidOf(chat.id, "keeper"),
  ];
  return { terminal, chat, pids };
}

/** Another home next to the first, with the CLI of the same build. */
class Copy {
  readonly path: string;
  readonly #home: ChatHome;

  constructor(home: ChatHome, name: string) {
    this.#home = home;
    this.path = join(home.directory, name);
  }

  cli(args: string[]): Promise<Ran> {
    return this.#home.cli(args, { env: { HOLDFAST_HOME: this.path } });
  }

  async ok(args: string[]): Promise<string> {
    const ran = await this.cli(args);
    if (ran.code !== 0) throw new Error(`${args.join(" ")} exited ${ran.code}\n${ran.stdout}\n${ran.stderr}`);
    return ran.stdout;
  }

  async show(id: string): Promise<SessionJson> {
    return JSON.parse(await this.ok(["session", "show", id, "--json"])) as SessionJson;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (existsSync(join(this.path, "holdfast.db"))) await this.cli(["stop", "--halt-sessions", "--yes"]);
  }
}

test("[HOME-3] a copy of a running home does not start without an answer, and then never touches the original's agents and worktrees", async () => {
  await using home = await ChatHome.open();
  const { terminal, chat, pids } = await withAgents(home);
  await using copy = new Copy(home, "h2");
  // Copied while everything is paused: a file that disappears fails cp, and a commit in between tears the database.
  const copied = await whileStopped(home.daemon().pid, () => home.run("cp", ["-a", home.home, copy.path]));
  expect(copied).toMatchObject({ code: 0 });

  // No command of the copy reaches the original's daemon, whose file was copied too.
  for (const args of [["start"], ["session", "ls"], ["session", "kill", terminal.id]]) {
    const refused = await copy.cli(args);
    expect(refused, args.join(" ")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("holdfast start --copied"),
    });
    expect(refused.stderr).toContain("holdfast start --moved");
    expect(refused.stderr).toContain(home.home);
  }
  const doctor = await copy.cli(["doctor"]);
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining("holdfast start --copied") });
  expect(doctor.stdout).toContain("holdfast start --moved");
  expect(doctor.stdout).not.toContain("holdfast start,");
  expect(await copy.cli(["info"])).toMatchObject({ stdout: expect.not.stringContaining(String(home.daemon().pid)) });
  const wrong = await copy.cli(["start", "--moved", "--port", "0"]);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining(`${home.home} still exists`) });

  expect(await copy.cli(["start", "--copied", "--port", "0"])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Its existing sessions stay with the original"),
  });
  for (const { id } of [terminal, chat]) {
    expect(await copy.show(id)).toMatchObject({
      status: "killed",
      processes: [],
      intent: { want: "killed", by: "copy" },
    });
    expect(await copy.cli(["session", "restore", id])).toMatchObject({ code: 1 });
    await copy.ok(["session", "kill", id]);
    await copy.ok(["session", "delete", id, "--yes"]);
  }
  // A spawn in the copy has its own id, branch and worktree.
  const own = JSON.parse(
    await copy.ok(["spawn", "my-app", "--agent", "demo", "--kind", "terminal", "--json"]),
  ) as SessionJson;
  expect(own.workspacePath.startsWith(`${copy.path}/`)).toBe(true);
  await copy.ok(["restart"]);
  await copy.ok(["session", "kill", own.id]);

  expect(pids.map(isRunning)).toEqual([true, true, true]);
  for (const { workspacePath } of [terminal, chat]) {
    expect(readFileSync(join(workspacePath, "draft.txt"), "utf8")).toBe("not committed\n");
    expect(await home.git(workspacePath, ["status", "--porcelain"])).toContain("draft.txt");
  }
  home.openGate("gate-1");
  expect((await home.ended(chat.id)).at(-1)?.stopReason).toBe("end_turn");
  await home.status(terminal.id, "idle");
  expect(await home.agent(terminal.id)).toMatchObject({ pid: pids[0] });
  // Copied files are set aside, not deleted.
  const aside = readdirSync(copy.path).filter((name) => name.startsWith("copied-"));
  expect(aside).toHaveLength(1);
  expect(readFileSync(join(copy.path, aside[0]!, "worktrees/my-app", terminal.id, "draft.txt"), "utf8")).toBe(
    "not committed\n",
  );
});

test("[HOME-4] a moved home keeps its agents, its worktrees and its tmux server, and leaves a link at its old path", async () => {
  await using home = await ChatHome.open();
  const { terminal, chat, pids } = await withAgents(home);
  const socket = home.paths.tmuxSocket;
  await home.ok(["stop"]);
  const moved = new Copy(home, "elsewhere");
  renameSync(home.home, moved.path);
  const refused = await moved.cli(["session", "ls"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("holdfast start --moved") });
  expect(await moved.cli(["start", "--moved", "--port", "0"])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Linked ${home.home} to ${moved.path}`),
  });
  expect(lstatSync(home.home).isSymbolicLink()).toBe(true);
  expect(pids.map(isRunning)).toEqual([true, true, true]);
  // Both spellings find the same daemon and agents from here on.
  for (const show of [(id: string) => home.show(id), (id: string) => moved.show(id)]) {
    expect((await show(terminal.id)).processes.map(({ pid }) => pid)).toContain(pids[0]);
    expect((await show(chat.id)).processes.map(({ pid }) => pid)).toContain(pids[1]);
  }
  expect(home.paths.tmuxSocket).toBe(socket);
  home.openGate("gate-1");
  expect((await home.ended(chat.id)).at(-1)?.stopReason).toBe("end_turn");
  await moved.ok(["restart"]);
  await home.ok(["session", "kill", terminal.id]);
  await moved.ok(["session", "restore", terminal.id]);
  expect(readFileSync(join(terminal.workspacePath, "draft.txt"), "utf8")).toBe("not committed\n");
});
