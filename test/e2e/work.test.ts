import { existsSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { fillZoo, fingerprint, gitState } from "../harness/zoo.ts";

test("[SESSION-41] everything in a dirty worktree is restored after kill and restore, byte for byte", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  await fillZoo(home, workspacePath);
  const before = { files: fingerprint(workspacePath), git: await gitState(home, workspacePath) };

  const killed = await home.ok(["session", "kill", id]);
  expect(killed).toMatch(new RegExp(`^Session ${id} killed\\.\\n`));
  expect(killed).toMatch(/\d+ uncommitted files and 1 unpushed commit kept in the trash as /);
  expect(killed).toMatch(/^ {2}Unpushed: [0-9a-f]{7,} work that no other branch has$/m);
  expect(killed).toContain(`holdfast session restore ${id}`);
  expect(existsSync(workspacePath)).toBe(false);
  expect(await home.git(home.repo, ["branch", "--list", id])).not.toBe("");

  const restored = await home.ok(["session", "restore", id]);
  expect(restored).toMatch(
    new RegExp(
      `^Session ${id} restored\\.\\n  Worktree: ${workspacePath}\\n  Branch:   ${id}\\n  Attach:   holdfast attach ${id}$`,
      "m",
    ),
  );
  expect(fingerprint(workspacePath)).toEqual(before.files);
  expect(await gitState(home, workspacePath)).toBe(before.git);
});

test("[SESSION-41] a crash between any two steps of kill and restore loses nothing", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  await fillZoo(home, workspacePath);
  const before = { files: fingerprint(workspacePath), git: await gitState(home, workspacePath) };
  const points = ["execute.stop", "stop.ended", "execute.remove-workspace", "workspace.trashed"];
  for (const point of points) {
    home.arm(point, "kill");
    await home.cli(["session", "kill", id]);
    home.disarm(point);
    await home.ok(["session", "kill", id]);
    expect((await home.show(id)).status).toBe("killed");
    home.arm("execute.restore-workspace", "kill");
    await home.cli(["session", "restore", id]);
    home.disarm("execute.restore-workspace");
    await home.ok(["start"]);
    await home.status(id, "idle");
    expect(fingerprint(workspacePath), point).toEqual(before.files);
    expect(await gitState(home, workspacePath), point).toBe(before.git);
  }
});

test("[SESSION-41] restore without its files reports it, and cleanup of missing files succeeds", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn();
  await home.ok(["session", "kill", id]);
  await home.ok(["trash", "empty", "--yes"]);
  const ran = await home.cli(["session", "restore", id]);
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining(`Workspace missing: ${workspacePath}`) });
  const running = await home.spawn();
  const still = await home.cli(["session", "restore", running.id]);
  expect(still).toMatchObject({ code: 1, stderr: expect.stringContaining("Cannot restore: Session is still running") });
});

test("[TRASH-14] a kill that cannot inspect a worktree reports it, and where everything is kept", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn();
  writeFileSync(join(workspacePath, "note.txt"), "keep me");
  renameSync(join(home.repo, ".git"), join(home.repo, "elsewhere"));
  const killed = await home.ok(["session", "kill", id]);
  expect(killed).toMatch(/git does not know this directory: .*\n  All of it is kept in the trash as \S+\.\n/);
  renameSync(join(home.repo, "elsewhere"), join(home.repo, ".git"));
  await home.ok(["session", "restore", id]);
  expect(readFileSync(join(workspacePath, "note.txt"), "utf8")).toBe("keep me");
});

test("[WORKTREE-23] files that git, a command and an agent create have the modes of the user's own umask", async () => {
  await using home = await ProjectHome.make();
  writeFileSync(join(home.repo, ".worktreeinclude"), "*.log\n");
  writeFileSync(join(home.repo, ".gitignore"), "*.log\n");
  writeFileSync(join(home.repo, "kept.log"), "kept\n");
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    "projects:\n  my-app:\n    path: .\n    prefix: ma\n    postCreate: [touch made, mkdir built]\n",
  );
  await home.ok(["project", "add", home.repo]);
  const umask = process.umask();
  const { id, workspacePath } = await home.spawn();
  const chat = await home.json(["spawn", "my-app", "--agent", "demo", "--kind", "chat"]);
  for (const { pid } of [await home.agent(id), await home.agent(chat.id)]) {
    const own = /^Umask:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    expect(Number.parseInt(own![1]!, 8)).toBe(umask);
  }
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  const [file, folder] = [0o666, 0o777].map((most) => (most & ~umask).toString(8));
  for (const name of [".git", "README.md", "made", "kept.log"])
    expect(mode(join(workspacePath, name)), name).toBe(file);
  for (const name of ["", "built"]) expect(mode(join(workspacePath, name)), name).toBe(folder);
  const admin = join(home.repo, ".git", "worktrees", id);
  for (const name of readdirSync(admin).filter((one) => one !== "holdfast.json")) {
    expect(mode(join(admin, name)), name).toBe(statSync(join(admin, name)).isDirectory() ? folder : file);
  }
});

test("[CLI-61] doctor names every error in the user's and the projects' configuration, with its position", async () => {
  await using home = await ProjectHome.make();
  const file = join(home.repo, "holdfast.yaml");
  const sound = JSON.stringify({ projects: { "my-app": { path: "." } } });
  writeFileSync(file, sound);
  await home.ok(["project", "add", home.repo]);
  const told = async (): Promise<string[]> =>
    (await home.cli(["doctor"])).stdout.split("\n").filter((line) => /^\S+ +configuration /.test(line));
  expect(await told()).toMatchObject([expect.stringContaining("1 configuration file can be read.")]);
  writeFileSync(file, "projects:\n  my-app:\n    path: .\n    agnt: demo\n");
  writeFileSync(home.paths.config, "defaults:\n  knd: chat\n");
  expect(await told()).toMatchObject([
    expect.stringContaining(`${home.paths.config}:2:3: unknown key "knd" (did you mean "kind"?)`),
    expect.stringContaining(`${file}:4:5: unknown key "agnt" (did you mean "agent"?)`),
  ]);
  expect((await home.cli(["doctor"])).code).toBe(1);
});
