import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { setTrap } from "../git/hostile.fixture.ts";
import { commit, makeWorld, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;

/** Takes one file's object away and says where git is to get it. */
function makePartial(gitDir: string, id: string, settings: Record<string, string>): void {
  rmSync(join(gitDir, "objects", id.slice(0, 2), id.slice(2)), { force: true });
  const set = (key: string, value: string): string =>
    sh(world.dir, "config", "--file", join(gitDir, "config"), key, value);
  set("core.repositoryFormatVersion", "1");
  set("extensions.partialClone", "o");
  set("remote.o.promisor", "true");
  for (const [key, value] of Object.entries(settings)) set(key, value);
}

const ways = (program: string): Record<string, Record<string, string>> => ({
  "ssh command": { "remote.o.url": "ssh://host.invalid/x", "core.sshCommand": program },
  uploadpack: { "remote.o.url": "/nowhere", "remote.o.uploadpack": program },
  ext: { "remote.o.url": `ext::${program}`, "protocol.ext.allow": "always" },
  rewritten: {
    "remote.o.url": "https://x",
    [`url.ext::${program} .insteadOf`]: "https://",
    "protocol.allow": "always",
  },
  "remote helper": { "remote.o.url": "x", "remote.o.vcs": "evil" },
});

test("[GIT-4] S3a: a repository that lacks an object and names the program to fetch it with runs nothing", async () => {
  for (const name of Object.keys(ways(""))) {
    world = makeWorld();
    const trap = setTrap(world.dir);
    commit(world.repository, { "a.txt": "a\n" });
    const id = sh(world.repository, "rev-parse", "HEAD:a.txt").trim();
    makePartial(join(world.repository, ".git"), id, ways(trap.program(name))[name]!);
    const plan = world.plan("ab-1");
    await world.workspaces.preflight(plan);
    const error: unknown = await world.workspaces.create(plan, quiet).catch((reason: unknown) => reason);
    expect([name, ...trap.ran()]).toEqual([name]);
    expect(error).toMatchObject({
      message: expect.stringContaining("is a partial clone that lacks files of"),
      hint: expect.stringContaining("archive --output=/dev/null"),
    });
    await world.workspaces.undo(plan);
    expect([name, ...trap.ran()]).toEqual([name]);
    world.remove();
  }
});

test("[GIT-4][GIT-5] S3b: a .git rewritten by the agent to a repository of its own is neither believed nor fetched for", async () => {
  for (const name of Object.keys(ways(""))) {
    world = makeWorld();
    const trap = setTrap(world.dir);
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    const evil = join(plan.path, "x/g");
    mkdirSync(join(plan.path, "x"));
    sh(world.dir, "clone", "--quiet", "--bare", "--no-hardlinks", world.repository, evil);
    const id = sh(world.repository, "rev-parse", "HEAD:file.txt").trim();
    makePartial(evil, id, { ...ways(trap.program(name))[name]!, "core.bare": "false" });
    writeFileSync(join(plan.path, ".git"), `gitdir: ${evil}\n`);
    put(plan.path, { "file.txt": "changed\n", "new.txt": "new\n" });
    const looked = world.workspaces.changes(plan.path, { base: "", defaultBranch: "main" });
    const changes: unknown = await looked.catch((reason: unknown) => reason);
    expect([name, ...trap.ran()]).toEqual([name]);
    expect(changes).toMatchObject({ files: expect.arrayContaining([expect.objectContaining({ path: "file.txt" })]) });
    expect((await world.workspaces.inspect(plan.path)).note).toContain(".git names");
    const entry = await world.workspaces.trash(plan);
    expect(entry).toMatchObject({ branch: "ab-1", note: expect.stringContaining("instead of") });
    const { notes } = await world.workspaces.restore(entry!.id);
    expect(notes).toEqual([]);
    expect(readFileSync(join(plan.path, "new.txt"), "utf8")).toBe("new\n");
    expect([name, ...trap.ran()]).toEqual([name]);
    world.remove();
  }
});

test("[GIT-7] a true partial clone gets its missing files by one fetch that is reported and runs nothing of the repository's", async () => {
  world = makeWorld();
  const trap = setTrap(world.dir);
  const { repository: origin } = world;
  for (const key of ["allowFilter", "allowAnySHA1InWant"]) sh(origin, "config", `uploadpack.${key}`, "true");
  commit(origin, { "deep/er/a.txt": "a\n", "b.txt": "b\n" });
  for (const filter of ["blob:none", "tree:0"]) {
    const clone = join(world.dir, filter.replace(":", "-"));
    sh(world.dir, "clone", "--quiet", "--no-checkout", `--filter=${filter}`, `file://${origin}`, clone);
    for (const [key, value] of [
      ["core.sshCommand", trap.program("ssh")],
      ["remote.origin.uploadpack", trap.program("uploadpack")],
      ["credential.helper", `!${trap.program("credential")}`],
    ] as const) {
      sh(clone, "config", key, value);
    }
    const plan = world.plan(`ab-${filter.length}`, { repository: clone });
    const said: string[] = [];
    await world.workspaces.create(plan, (text) => said.push(text));
    expect(readFileSync(join(plan.path, "deep/er/a.txt"), "utf8")).toBe("a\n");
    expect(said.join("")).toContain(`Fetching missing objects from file://${origin}`);
    put(plan.path, { "b.txt": "B\n" });
    expect((await world.workspaces.changes(plan.path, { base: "", defaultBranch: "main" })).files).toHaveLength(1);
    const entry = await world.workspaces.trash(plan);
    expect(entry).not.toHaveProperty("note");
    await world.workspaces.restore(entry!.id);
  }
  expect(trap.ran()).toEqual([]);
});

test("[GIT-5] a .git that is gone, huge or a pipe stops nothing: the session is read, trashed with a snapshot, and comes back", async () => {
  world = makeWorld();
  const kinds: Record<string, (file: string) => void> = {
    gone: () => undefined,
    huge: (file) => writeFileSync(file, `gitdir: ${"x".repeat(20_000_000)}`),
    "a pipe": (file) => sh(world.dir, "-c", `alias.pipe=!mkfifo '${file}'`, "pipe"),
    unreadable: (file) => {
      writeFileSync(file, "gitdir: /nowhere\n");
      chmodSync(file, 0o000);
    },
  };
  for (const [at, [kind, make]] of Object.entries(kinds).entries()) {
    const plan = world.plan(`ab-${at}`);
    await world.workspaces.create(plan, quiet);
    rmSync(join(plan.path, ".git"));
    make(join(plan.path, ".git"));
    put(plan.path, { "new.txt": kind });
    expect(world.workspaces.liveBranch(plan.path)).toBe(plan.branch);
    expect(await world.workspaces.inspect(plan.path)).toMatchObject({ uncommitted: 1, note: expect.any(String) });
    const entry = await world.workspaces.trash(plan);
    expect(entry).toMatchObject({ uncommitted: 1, note: expect.stringContaining(".git") });
    const store = join(world.trash, entry!.id, "files.git");
    expect(sh(world.dir, `--git-dir=${store}`, "show", "snapshot:new.txt")).toBe(kind);
    await world.workspaces.restore(entry!.id);
    expect(readFileSync(join(plan.path, "new.txt"), "utf8")).toBe(kind);
  }
});

test("[GIT-5] a session of an earlier build, without a record, is found by its repository's own list of worktrees", async () => {
  world = makeWorld();
  const trap = setTrap(world.dir);
  const plan = world.plan("ab-1");
  await world.workspaces.create(plan, quiet);
  const records = join(world.worktrees, ".records");
  const evil = join(world.dir, "evil");
  sh(world.dir, "clone", "--quiet", world.repository, evil);
  trap.plant(join(evil, ".git/config"), join(evil, ".git/hooks"));
  writeFileSync(join(plan.path, ".git"), `gitdir: ${join(evil, ".git")}\n`);
  rmSync(records, { recursive: true });
  const { openWorktrees } = await import("../worktrees.ts");
  // A path that this process never saw: records are kept in memory too.
  const moved = join(world.dir, "elsewhere");
  sh(world.repository, "worktree", "add", "--quiet", "-b", "old", join(moved, "p/ab-2"));
  writeFileSync(join(moved, "p/ab-2/.git"), `gitdir: ${join(evil, ".git")}\n`);
  put(join(moved, "p/ab-2"), { "new.txt": "new\n" });
  const open = (repositoryOf: () => string | null) =>
    openWorktrees({ worktreesDirectory: moved, trashDirectory: join(world.dir, "t"), now: Date.now, repositoryOf });
  await expect(open(() => null).inspect(join(moved, "p/ab-2"))).rejects.toThrow("is not a worktree");
  const found = await open(() => world.repository).inspect(join(moved, "p/ab-2"));
  expect(found).toMatchObject({ uncommitted: 1, note: expect.stringContaining(".git names") });
  expect(existsSync(join(moved, ".records"))).toBe(true);
  expect(trap.ran()).toEqual([]);
});

test("[GIT-5] links that an agent left in git's directory or in its worktree lead no write and no read outside", async () => {
  world = makeWorld();
  const secret = join(world.dir, "secret");
  put(secret, { key: "canary\n" });
  const plan = world.plan("ab-1");
  await world.workspaces.create(plan, quiet);
  commit(plan.path, { "dir/key": "mine\n", "more/key": "mine\n" });
  const logs = join(world.repository, ".git/worktrees/ab-1/logs");
  rmSync(logs, { recursive: true });
  symlinkSync(secret, logs);
  put(secret, { HEAD: "untouched\n" });
  for (const name of ["dir", "more"]) {
    rmSync(join(plan.path, name), { recursive: true });
    symlinkSync(secret, join(plan.path, name));
  }
  const entry = await world.workspaces.trash(plan);
  expect(entry!.note).toContain("was a symbolic link");
  const store = `--git-dir=${join(world.trash, entry!.id, "files.git")}`;
  expect(sh(world.dir, store, "ls-tree", "-r", "--name-only", "snapshot")).not.toContain("key");
  expect(() => sh(world.dir, store, "grep", "canary", "snapshot")).toThrow("Command failed");
  await world.workspaces.restore(entry!.id);
  expect(readFileSync(join(secret, "HEAD"), "utf8")).toBe("untouched\n");
});
