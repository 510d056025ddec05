import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SessionJson } from "../../src/contract/session.ts";
import { program } from "../agents/tmux-world.ts";
import { Home } from "../harness/home.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

test("[SESSION-1] a spawn whose daemon dies at any step is complete after the next start", async () => {
  await using home = await ProjectHome.make();
  for (const point of [
    "execute.create-workspace",
    "workspace.created",
    "execute.launch",
    "launch.recorded",
    "launch.made",
  ]) {
    home.arm(point, "kill");
    await home.cli(["spawn", "my-app", "--agent", "demo", "--kind", "terminal", "--prompt", "say: hello"]);
    home.disarm(point);
    await home.ok(["start"]);
    const sessions = await home.json<SessionJson[]>(["session", "ls"]);
    const { id } = sessions.at(-1)!;
    const session = await home.status(id, "idle");
    const panes = await home.run("tmux", ["-L", home.paths.tmuxSocket, "list-panes", "-a", "-F", "#{session_name}"]);
    expect(panes.stdout.trim().split("\n"), point).toEqual([`worker-my-app-${id}`]);
    expect(
      session.processes.filter(({ what }) => what === "agent"),
      point,
    ).toHaveLength(1);
    const settled = async () =>
      (await home.events(id)).filter(({ type }) => type === "prompt.sent" || type === "prompt.doubtful");
    // An agent is also idle before it gets its first prompt.
    await until(`the prompt to be settled after ${point}`, async () => (await settled()).length > 0);
    expect(await settled(), point).toHaveLength(1);
    await home.ok(["session", "kill", id]);
  }
  expect(await home.git(home.repo, ["worktree", "list", "--porcelain"])).toMatch(/^worktree [^\n]+my-app\n/);
});

test("[SESSION-2] problems are reported immediately with the fix, and nothing is created", async () => {
  await using home = await ProjectHome.make();
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    "agents:\n  ghost:\n    terminal:\n      command: [no-such-program]\n",
  );
  await home.ok(["project", "add", home.repo]);
  await home.git(home.repo, ["branch", "taken"]);
  await home.git(home.repo, ["worktree", "add", "-q", join(home.directory, "elsewhere"), "taken"]);
  const ran = await home.cli(["spawn", "my-app", "--agent", "ghost", "--kind", "terminal", "--branch", "taken"]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("no-such-program was not found on PATH.");
  expect(ran.stderr).toContain(join(home.directory, "elsewhere"));
  expect(await home.listed()).toEqual([]);
  const worktrees = join(home.paths.worktrees, "my-app");
  expect(existsSync(worktrees) ? readdirSync(worktrees) : []).toEqual([]);
});

test("[SESSION-2] outside any project, and for an unknown one, the error names the next step", async () => {
  await using home = await ProjectHome.make();
  const nowhere = await home.cli(["spawn", "--prompt", "x"]);
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining("No holdfast.yaml found") });
  expect(nowhere.stderr).toContain("holdfast init");
  const unknown = await home.cli(["spawn", "other", "12"]);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("Unknown project: other") });
  expect(unknown.stderr).toContain("my-app");
});

test("[SESSION-3] an agent that exits immediately is a failed spawn, with its last lines", async () => {
  await using home = await ProjectHome.make({ HOLDFAST_TEST_FRESH_MS: "30000" });
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    `agents:\n  hasty:\n    terminal:\n      command: ${JSON.stringify(program("exits-at-once.sh"))}\n`,
  );
  await home.ok(["project", "add", home.repo]);
  const ran = await home.cli(["spawn", "my-app", "--agent", "hasty", "--kind", "terminal"]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("cannot start: no key is set");
  const [session] = await home.json<SessionJson[]>(["session", "ls"]);
  expect(session).toMatchObject({ status: "failed" });
});

test("[SESSION-3] [SESSION-9] a worktree that cannot be created leaves nothing behind, and its session is failed until the next attempt", async () => {
  await using home = await ProjectHome.make();
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    "projects:\n  my-app:\n    path: .\n    prefix: ma\n    postCreate: [\"sh -c 'echo it broke; exit 3'\"]\n",
  );
  await home.ok(["project", "add", home.repo]);
  const ran = await home.cli(["spawn", "my-app", "--agent", "demo", "--kind", "terminal"]);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("failed: exit code 3.\nit broke\n");
  expect(ran.stderr).toContain("holdfast session restore ma-1");
  const nothingLeft = async (): Promise<void> => {
    expect(await home.git(home.repo, ["branch", "--list", "ma-*"])).toBe("");
    expect(existsSync(join(home.paths.worktrees, "my-app", "ma-1"))).toBe(false);
  };
  await nothingLeft();
  const failed = { status: "failed", intent: { want: "running", by: "person" }, processes: [] };
  expect(await home.show("ma-1")).toMatchObject(failed);
  // A start retries nothing, a halt leaves it unchanged, and another failure is reported like the first.
  await home.ok(["stop", "--halt-sessions", "--yes"]);
  await home.ok(["start"]);
  expect(await home.show("ma-1")).toMatchObject(failed);
  const again = await home.cli(["session", "restore", "ma-1"]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("exit code 3") });
  await home.ok(["session", "kill", "ma-1"]);
  await nothingLeft();
  writeFileSync(join(home.repo, "holdfast.yaml"), "projects:\n  my-app:\n    path: .\n    prefix: ma\n");
  await home.ok(["project", "add", home.repo]);
  await home.ok(["session", "restore", "ma-1"]);
  expect((await home.status("ma-1", "idle")).workspace).toBe("ready");
});

test("[WORKTREE-9] postCreate's output becomes events while it still runs", async () => {
  await using home = await ProjectHome.gated();
  const spawning = home.spawn();
  await until("the first words", async () => {
    const events = await home.events("ma-1");
    const output = events.filter(({ type }) => type === "workspace.output").map(({ text }) => String(text));
    return output.join("").includes("\nfirst words\n");
  });
  expect((await home.show("ma-1")).status).toBe("starting");
  writeFileSync(join(home.home, "worktrees", "my-app", "ma-1", "go"), "");
  expect((await spawning).id).toBe("ma-1");
});

test("[SESSION-4] a second session for an issue has its own id and branch; --resume reuses the first", async () => {
  await using home = await ProjectHome.make();
  const first = await home.spawn("INT-123");
  const second = await home.spawn("INT-123");
  expect([first.id, second.id]).toEqual(["ma-int-123", "ma-int-123-2"]);
  expect(first.branch).not.toBe(second.branch);
  await home.ok(["session", "stop", first.id, second.id]);
  const resumed = await home.spawn("INT-123", "--resume");
  expect(resumed.id).toBe(first.id);
  await home.ok(["session", "kill", second.id]);
  await home.status(first.id, "idle");
  const atOnce = await Promise.all(Array.from({ length: 3 }, () => home.spawn("INT-9")));
  expect(atOnce.map(({ id }) => id).toSorted()).toEqual(["ma-int-9", "ma-int-9-2", "ma-int-9-3"]);
});

test("[SESSION-5] one orchestrator per project; tmux names follow the pattern; --all lists them", async () => {
  await using home = await ProjectHome.make();
  const one = ["spawn", "my-app", "--agent", "demo", "--role", "orchestrator"];
  const both = await Promise.all([home.cli(one), home.cli(one)]);
  expect(both.filter(({ code }) => code === 0)).toHaveLength(1);
  const boss = { id: /^SESSION=(\S+)$/m.exec(both.map(({ stdout }) => stdout).join(""))![1]! };
  const refused = `my-app already has an orchestrator: ${boss.id}.`;
  expect((await home.cli(one)).stderr).toContain(refused);
  await home.ok(["session", "stop", boss.id]);
  expect((await home.cli(one)).stderr).toContain(`${refused}\nContinue with it (holdfast session restore ${boss.id})`);
  await home.ok(["session", "restore", boss.id]);
  const shell = await home.json(["spawn", "my-app", "--role", "shell"]);
  const names = (await home.run("tmux", ["-L", home.paths.tmuxSocket, "list-sessions", "-F", "#{session_name}"])).stdout
    .trim()
    .split("\n");
  expect(names.toSorted()).toEqual(["orchestrator-my-app", `shell-my-app-${shell.id.split("-").at(-1)}`]);
  expect(await home.ok(["session", "ls"])).not.toContain(boss.id);
  expect(await home.ok(["session", "ls", "--all"])).toMatch(new RegExp(`${boss.id} .* orchestrator$`, "m"));
  await home.ok(["session", "kill", boss.id]);
  const next = await home.spawn("--role", "orchestrator");
  const back = await home.cli(["session", "restore", boss.id]);
  expect(back).toMatchObject({ code: 1, stderr: expect.stringContaining(`already has an orchestrator: ${next.id}.`) });
  await home.status(boss.id, "killed");
});

test("[SESSION-6] batch-spawn prints each result and exits 1 if any failed", async () => {
  await using home = await ProjectHome.make();
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    "projects:\n  my-app:\n    path: .\n    prefix: ma\n    agent: demo\n    kind: terminal\n",
  );
  await home.ok(["project", "add", home.repo]);
  const ran = await home.cli(["batch-spawn", "7", "8", "9"], { cwd: home.repo });
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("3 sessions spawned.\n") });
  expect((await home.listed()).toSorted()).toEqual(["ma-7", "ma-8", "ma-9"]);
});

test("[SESSION-51] the list shows the current branch in natural order, and counts hidden sessions", async () => {
  await using home = await ProjectHome.make();
  const ids = [];
  for (let number = 0; number < 3; number++) ids.push((await home.spawn("--name", `task ${number}`)).id);
  const { workspacePath } = await home.show(ids[1]!);
  await home.git(workspacePath, ["switch", "-q", "-c", "renamed-by-hand"]);
  await home.ok(["session", "kill", ids[0]!]);
  await until("both to be idle", async () =>
    (await home.json<SessionJson[]>(["session", "ls"])).every(({ status }) => status === "idle"),
  );
  const text = await home.ok(["session", "ls"]);
  expect(text).toMatch(
    /^my-app:\n {2}ma-2 {2}\(\d+[sm]\) {2}renamed-by-hand {2}\[idle\]\n {2}ma-3 .*\n1 terminated session hidden\. Use --include-terminated to show\.\n$/,
  );
});

test("[HOME-1] two homes with the same project never meet", async () => {
  await using one = await ProjectHome.make();
  await using two = await ProjectHome.make();
  const a = await one.spawn();
  const b = await two.spawn();
  expect(a.id).toBe(b.id);
  await one.ok(["session", "kill", a.id]);
  expect((await two.status(b.id, "idle")).processes).toHaveLength(1);
  expect(one.paths.tmuxSocket).not.toBe(two.paths.tmuxSocket);
});

test("[SESSION-52] cleanup prints what it would do, never kills an orchestrator, and removes dead sessions only on request", async () => {
  await using home = await ProjectHome.make();
  const boss = await home.spawn("--role", "orchestrator");
  const alive = await home.spawn("41");
  const over = await home.exited("42");
  const plain = await home.ok(["session", "cleanup"]);
  expect(plain).toContain("Checking for completed sessions...\n\n");
  expect(plain).toContain(`  Skipped: ${alive.id} (could not check whether its issue is closed)`);
  expect(plain).toContain("Cleanup complete. 0 sessions cleaned.");
  const dry = await home.ok(["session", "cleanup", "--dead", "--dry-run"]);
  expect(dry).toContain(`  Would kill ${over.id}\n`);
  expect(dry).toContain("Dry run complete. 1 session would be cleaned.");
  expect((await home.show(over.id)).status).toBe("exited");
  const done = await home.ok(["session", "cleanup", "--dead"]);
  expect(done).toContain(`  Cleaned: ${over.id}\n`);
  expect(done).toContain("Cleanup complete. 1 session cleaned.");
  expect(await home.show(over.id)).toMatchObject({ status: "killed", intent: { by: "cleanup" } });
  expect((await home.show(boss.id)).processes).toHaveLength(1);
});

test("[DAEMON-1] spawn without --json ends with the session's id on its own line", async () => {
  await using home = await ProjectHome.make();
  expect(await home.ok(["spawn", "my-app", "--agent", "demo", "--kind", "terminal"])).toMatch(/\nSESSION=ma-1\n$/);
  expect(home).toBeInstanceOf(Home);
});

test("[SESSION-7] --resume with a prompt delivers it", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("5", "--prompt", "say: hello");
  await home.status(id, "idle");
  await home.ok(["session", "stop", id]);
  await home.spawn("5", "--resume", "--prompt", "say: again");
  await until(
    "both prompts",
    async () => (await home.events(id)).filter(({ type }) => type === "prompt.sent").length === 2,
  );
});

test("[SESSION-9, SESSION-10] a spawn that failed with no client waiting stays listed, with its project, until it is cleared", async () => {
  await using home = await ProjectHome.make();
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    "projects:\n  my-app:\n    path: .\n    prefix: ma\n    postCreate: ['false']\n",
  );
  await home.ok(["project", "add", home.repo]);
  await home.ok(["spawn", "my-app", "--agent", "demo", "--kind", "terminal", "--no-wait", "--prompt", "say: kept"]);
  const session = await home.status("ma-1", "failed");
  expect(session.reason).toContain("The worktree could not be created:");
  expect((await home.events("ma-1")).some((event) => event["text"] === "say: kept")).toBe(true);
  const refused = await home.cli(["project", "rm", "my-app"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("my-app still has sessions: ma-1.") });
  await home.ok(["session", "kill", "ma-1"]);
  await home.ok(["project", "rm", "my-app"]);
});
