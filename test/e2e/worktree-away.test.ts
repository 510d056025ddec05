import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

test("[TRASH-4] a kill from inside the worktree is not blocked by the command itself", async () => {
  await using home = await ProjectHome.make();
  for (const verb of [["kill"], ["delete", "--yes"]]) {
    const { id, workspacePath } = await home.spawn();
    const [name = "", ...flags] = verb;
    const answer = await home.ok(["session", name, id, ...flags], { cwd: workspacePath });
    expect(answer).toMatch(new RegExp(`^Session ${id} ${name === "kill" ? "killed" : "deleted"}\\.`));
    expect(existsSync(workspacePath)).toBe(false);
  }
});

test("[TRASH-4] a process in the worktree is named during the wait, and the kill finishes when it leaves", async () => {
  // Longer than a command of this test may take: a response within it did not wait.
  await using home = await ProjectHome.make({ HOLDFAST_TEST_END_MS: "3600000" });
  const { id, workspacePath } = await home.spawn();
  const shell = spawn("sleep", ["600"], { cwd: workspacePath, stdio: "ignore" });
  try {
    await once(shell, "spawn");
    const answer = await home.ok(["session", "kill", id]);
    expect(answer).toContain(`Session ${id} will be killed, but some processes are still running:`);
    expect(answer).toContain(`in use by sleep (pid ${shell.pid})`);
    expect(existsSync(workspacePath)).toBe(true);
  } finally {
    shell.kill("SIGKILL");
    await once(shell, "exit");
  }
  await home.ok(["session", "kill", id]);
  await until("the worktree to be moved", () => !existsSync(workspacePath));
});

test("[WORKTREE-20] a session killed while its worktree was away is restored once it is back", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn();
  writeFileSync(join(workspacePath, "note.txt"), "keep me\n");
  const away = join(home.directory, "away");
  await home.ok(["session", "stop", id]);
  renameSync(workspacePath, away);
  await home.ok(["session", "kill", id]);
  const refused = await home.cli(["session", "restore", id]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`Workspace missing: ${workspacePath}`) });
  expect(refused.stderr).toContain(`holdfast spawn my-app --branch ${id}`);
  renameSync(away, workspacePath);
  await home.ok(["session", "restore", id]);
  await home.status(id, "idle");
  expect(readFileSync(join(workspacePath, "note.txt"), "utf8")).toBe("keep me\n");
  expect(await home.git(workspacePath, ["status", "--porcelain", "--branch"])).toBe(`## ${id}\n?? note.txt`);
  // It is an ordinary worktree again.
  expect(await home.ok(["session", "kill", id])).toContain("1 uncommitted file kept in the trash");
});
