import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { asTrashId } from "../../contract/ids.ts";
import { emptyPoints, restorePoints, trashPoints } from "../points.fixture.ts";
import { commit, dieAt, gitState, makeWorld, makeZoo, manifest, put, sh, type World } from "../worktree.fixture.ts";
import { storeOf } from "./records.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;

describe("the zoo", () => {
  test("[TRASH-16][TRASH-1][TRASH-17] every byte and mode comes back, with a crash between every two steps", async () => {
    world = makeWorld();
    const plan = await makeZoo(world, "zo-1");
    const { path, branch } = plan;
    const files = manifest(path);
    const state = gitState(path);
    const check = (): void => {
      expect(manifest(path)).toEqual(files);
      expect(gitState(path)).toEqual(state);
    };

    for (const [index, point] of trashPoints.entries()) {
      dieAt(world, point, "trash", plan);
      // What a person's own housekeeping does in that moment must not cost the index.
      sh(world.repository, "worktree", "prune");
      const entry = await world.workspaces.trash(plan);
      expect({ point, is: entry }).toMatchObject({ point, is: { path, branch, session: "zo-1" } });
      expect({ point, is: existsSync(path) }).toEqual({ point, is: false });
      expect({ point, is: readdirSync(world.trash).filter((name) => !name.startsWith(".")) }).toEqual({
        point,
        is: [entry!.id],
      });
      const tree = join(world.trash, entry!.id, "tree");
      expect({ point, is: manifest(tree) }).toEqual({ point, is: files });
      expect(sh(world.repository, "worktree", "list", "--porcelain")).toContain(`worktree ${tree}\n`);
      // Its branch is free: a person can check it out while the worktree lies in the trash.
      sh(world.repository, "switch", "--quiet", branch);
      sh(world.repository, "switch", "--quiet", "main");

      const restorePoint = restorePoints[index];
      if (restorePoint !== undefined) dieAt(world, restorePoint, "restore", plan, entry!.id);
      sh(world.repository, "worktree", "prune");
      const restored = await world.workspaces.restore(entry!.id);
      expect({ point, is: restored }).toEqual({ point, is: { path, branch, notes: [] } });
      check();
      expect({ point, is: await world.workspaces.listTrash() }).toEqual({ point, is: [] });
      expect({ point, is: sh(world.repository, "for-each-ref", "refs/holdfast") }).toEqual({ point, is: "" });
      expect(sh(world.repository, "worktree", "list", "--porcelain")).not.toContain("locked");
    }
  });

  test("[TRASH-2][TRASH-16] a ref pins the commits, a repository of ours the raw files, and the index is not touched", async () => {
    world = makeWorld();
    const plan = await makeZoo(world, "zo-1");
    const { path } = plan;
    const head = sh(path, "rev-parse", "HEAD").trim();
    const before = await world.workspaces.inspect(path);
    expect(before.unpushed).toEqual([expect.stringMatching(/^[0-9a-f]{7,} unpushed work$/)]);
    const entry = await world.workspaces.trash(plan);
    expect(entry).toMatchObject({ uncommitted: before.uncommitted, unpushed: before.unpushed });

    expect(sh(world.repository, "rev-parse", entry!.ref!).trim()).toBe(head);
    const ref = "snapshot";
    const inStore = (...args: string[]): string =>
      sh(world.dir, `--git-dir=${storeOf(world.trash, entry!.id)}`, ...args);
    const show = (name: string): string => inStore("show", `${ref}:${name}`);
    expect(inStore("rev-parse", `${ref}^1`).trim()).toBe(head);
    expect(inStore("show", `${ref}^2:staged.txt`)).toBe("staged\n");
    expect(show("staged.txt")).toBe("and then changed again\n");
    expect(show("file.txt")).toBe("unstaged\n");
    expect(show("unix.crlf")).toBe("x\r\ny\r\n");
    expect(show("new\nline")).toBe("name\n");
    expect(show('"quoted')).toBe("q\n");
    expect(show("link")).toBe("file.txt");
    const listed = inStore("ls-tree", "-r", "-z", ref).split("\0");
    const mode = (name: string): string | undefined => listed.find((line) => line.endsWith(`\t${name}`))?.slice(0, 6);
    expect(mode("mode.sh")).toBe("100755");
    expect(mode("dangling")).toBe("120000");
    expect(mode("deep/er/untracked")).toBe("100644");
    expect(mode("gone.txt")).toBeUndefined();
    expect(mode("x.ignored")).toBeUndefined();
  });

  test("[GIT-8] a mirror push publishes no file that was never committed; an entry of an earlier build comes back too", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, () => undefined);
    put(plan.path, { ".env": "TOKEN=canary\n" });
    const entry = await world.workspaces.trash(plan);
    const mirror = join(world.dir, "mirror");
    sh(world.dir, "init", "--quiet", "--bare", mirror);
    sh(world.repository, "push", "--quiet", "--mirror", mirror);
    const blob = sh(world.dir, `--git-dir=${storeOf(world.trash, entry!.id)}`, "rev-parse", "snapshot:.env").trim();
    for (const repository of [mirror, world.repository]) {
      expect(() => sh(repository, "cat-file", "-e", blob)).toThrow("Command failed");
    }

    // As earlier builds left it: the snapshot in the person's repository, kept by the ref.
    const record = join(world.trash, entry!.id, "entry.json");
    const snapshot = sh(world.dir, `--git-dir=${storeOf(world.trash, entry!.id)}`, "rev-parse", "snapshot").trim();
    sh(world.repository, "fetch", "--quiet", storeOf(world.trash, entry!.id), `snapshot:${entry!.ref!}`, "--force");
    rmSync(storeOf(world.trash, entry!.id), { recursive: true });
    expect(JSON.parse(readFileSync(record, "utf8"))).toMatchObject({ snapshot, head: expect.any(String) });
    await world.workspaces.restore(entry!.id);
    expect(readFileSync(join(plan.path, ".env"), "utf8")).toBe("TOKEN=canary\n");
    expect(sh(world.repository, "for-each-ref", "refs/holdfast")).toBe("");
  });

  test("[GIT-9] a session's own objects are read by every call about its worktree, in the trash too", async () => {
    world = makeWorld();
    const objects = join(world.dir, 'private: "objects"');
    const plan = world.plan("ab-1", { objects });
    await world.workspaces.create(plan, () => undefined);
    put(plan.path, { "own.txt": "own\n" });
    mkdirSync(join(objects, "info"), { recursive: true });
    const before = { ...process.env };
    process.env["GIT_OBJECT_DIRECTORY"] = objects;
    process.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = join(world.repository, ".git/objects");
    const head = commit(plan.path, {}, "own work");
    delete process.env["GIT_OBJECT_DIRECTORY"];
    delete process.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"];
    expect(process.env).toEqual(before);
    expect(() => sh(world.repository, "cat-file", "-e", head)).toThrow("Command failed");
    const look = async (path: string): Promise<void> => {
      const changes = await world.workspaces.changes(path, { base: "", defaultBranch: "main" });
      expect(changes).toMatchObject({ head, files: [{ path: "own.txt", areas: ["committed"] }] });
    };
    await look(plan.path);
    expect((await world.workspaces.inspect(plan.path)).unpushed).toEqual([expect.stringContaining("own work")]);
    const entry = await world.workspaces.trash(plan);
    expect(entry).not.toHaveProperty("note");
    await look((await world.workspaces.trashedAt(entry!.id))!);
    expect(await world.workspaces.restore(entry!.id)).toEqual({ path: plan.path, branch: "ab-1", notes: [] });
    await look(plan.path);
  });

  test("[TRASH-15] the ref and the detached HEAD are as git writes them, and where the format is extended git writes them", async () => {
    world = makeWorld();
    for (const format of ["plain", "extended"]) {
      // Only git's own hand may write where this is set.
      if (format === "extended") sh(world.repository, "config", "core.sharedRepository", "group");
      const plan = world.plan(`fo-${format}`);
      await world.workspaces.create(plan, quiet);
      const head = commit(plan.path, { "a.txt": "a\n" });
      const { id, ref } = (await world.workspaces.trash(plan))!;
      const tree = join(world.trash, id, "tree");
      expect(sh(world.repository, "rev-parse", ref!).trim(), format).toBe(head);
      expect(sh(tree, "status", "--porcelain=v2", "--branch"), format).toContain("# branch.head (detached)\n");
      expect(sh(tree, "log", "--walk-reflogs", "-1", "--format=%H %gn %gs"), format).toBe(
        `${head} Holdfast holdfast: moved to the trash\n`,
      );
      expect(sh(world.repository, "fsck", "--no-dangling", "--strict"), format).toBe("");
    }
  });
});

describe("refusals", () => {
  test("[TRASH-3] a worktree with a live process inside stays where it is", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    const child = spawn("sleep", ["60"], { cwd: plan.path, stdio: "ignore" });
    try {
      await once(child, "spawn");
      await expect(world.workspaces.trash(plan)).rejects.toThrow(`in use by sleep (pid ${child.pid})`);
      expect(existsSync(plan.path)).toBe(true);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    expect(await world.workspaces.trash(plan)).toMatchObject({ session: "ab-1", uncommitted: 0, unpushed: [] });
  });

  test("[TRASH-3] another session's worktree and the repository itself are not moved", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    const other = { ...plan, session: world.plan("ab-2").session };
    await expect(world.workspaces.trash(other)).rejects.toThrow("worktree of session ab-1");
    await expect(world.workspaces.trash({ ...plan, path: world.repository })).rejects.toThrow("repository itself");
    expect(existsSync(plan.path)).toBe(true);
  });

  test("[SESSION-23] what is gone is null, what git no longer knows still goes to the trash", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    expect(await world.workspaces.trash(plan)).toBeNull();
    put(plan.path, { "work.txt": "not known to git\n" });
    const entry = await world.workspaces.trash(plan);
    expect(entry).toMatchObject({ ref: null, branch: null, note: expect.stringContaining("git does not know") });
    expect(await world.workspaces.restore(entry!.id)).toMatchObject({ path: plan.path });
    expect(existsSync(join(plan.path, "work.txt"))).toBe(true);
  });

  test("[SESSION-23] a damaged index does not keep a worktree from the trash", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    put(join(world.repository, ".git/worktrees/ab-1"), { index: "damaged" });
    expect(await world.workspaces.trash(plan)).toMatchObject({
      note: expect.stringContaining("Could not inspect its contents"),
    });
    expect(existsSync(plan.path)).toBe(false);
  });

  test("[TRASH-5] restore refuses an occupied path and loses nothing", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    put(plan.path, { "work.txt": "mine\n" });
    const entry = await world.workspaces.trash(plan);
    put(plan.path, { "other.txt": "somebody else's\n" });
    await expect(world.workspaces.restore(entry!.id)).rejects.toThrow("already exists and is not empty");
    rmSync(plan.path, { recursive: true });
    mkdirSync(plan.path);
    await world.workspaces.restore(entry!.id);
    expect(existsSync(join(plan.path, "work.txt"))).toBe(true);
    // Asked again, it says the same; asked for what never was, it says so.
    expect(await world.workspaces.restore(entry!.id)).toMatchObject({ path: plan.path, branch: "ab-1" });
    await expect(world.workspaces.restore(asTrashId("../../etc"))).rejects.toThrow("does not exist");
  });
});

describe("the branch at restore", () => {
  const trashed = async (): Promise<{ id: ReturnType<typeof asTrashId>; path: string; head: string }> => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    const head = commit(plan.path, { "a.txt": "a\n" });
    put(plan.path, { "b.txt": "b\n" });
    const entry = await world.workspaces.trash(plan);
    return { id: entry!.id, path: plan.path, head };
  };

  test("[TRASH-6] taken elsewhere: detached, with a note that names the holder", async () => {
    const { id, path, head } = await trashed();
    sh(world.repository, "switch", "--quiet", "ab-1");
    const restored = await world.workspaces.restore(id);
    expect(restored.notes).toEqual([`Branch ab-1 is now checked out in ${world.repository}: HEAD is detached.`]);
    expect(restored.branch).toBe(head.slice(0, 8));
    expect(sh(path, "status", "--porcelain")).toBe("?? b.txt\n");
  });

  test("[TRASH-6] moved on: detached; deleted: made again", async () => {
    const { id, path, head } = await trashed();
    sh(world.repository, "switch", "--quiet", "ab-1");
    commit(world.repository, { "c.txt": "c\n" });
    sh(world.repository, "switch", "--quiet", "main");
    expect((await world.workspaces.restore(id)).notes[0]).toContain("has moved to");
    expect(sh(path, "rev-parse", "HEAD").trim()).toBe(head);

    const plan = world.plan("ab-2");
    await world.workspaces.create(plan, quiet);
    const second = commit(plan.path, { "d.txt": "d\n" });
    const entry = await world.workspaces.trash(plan);
    sh(world.repository, "branch", "--quiet", "-D", "ab-2");
    expect(await world.workspaces.restore(entry!.id)).toMatchObject({ branch: "ab-2", notes: [expect.any(String)] });
    expect(sh(world.repository, "rev-parse", "ab-2").trim()).toBe(second);
  });

  test("[TRASH-6] a repository without a commit: the unborn branch is free and comes back", async () => {
    world = makeWorld({ commits: false });
    const plan = world.plan("ab-1");
    expect(await world.workspaces.create(plan, quiet)).toMatchObject({ base: "ab-1", branchCreated: true });
    put(plan.path, { "a.txt": "a\n" });
    const entry = await world.workspaces.trash(plan);
    expect(entry).toMatchObject({ branch: "ab-1", uncommitted: 1 });
    expect(await world.workspaces.restore(entry!.id)).toEqual({ path: plan.path, branch: "ab-1", notes: [] });
    expect(sh(plan.path, "status", "--porcelain")).toBe("?? a.txt\n");
  });
});

describe("empty", () => {
  test("[TRASH-7][SESSION-41] deletes exactly one entry, its ref and its registration, with a crash between every two steps", async () => {
    world = makeWorld();
    const kept = world.plan("ab-9");
    await world.workspaces.create(kept, quiet);
    put(kept.path, { "work.txt": "kept\n" });
    const keptEntry = await world.workspaces.trash(kept);
    for (const point of emptyPoints) {
      const plan = world.plan("ab-1", { branch: point.replaceAll(".", "-") });
      await world.workspaces.create(plan, quiet);
      put(plan.path, { "work.txt": "work\n" });
      const entry = await world.workspaces.trash(plan);
      dieAt(world, point, "empty", plan, entry!.id);
      await world.workspaces.empty(entry!.id);
      expect({ point, is: readdirSync(world.trash) }).toEqual({ point, is: [keptEntry!.id] });
      expect({ point, is: sh(world.repository, "for-each-ref", "--format=%(refname)", "refs/holdfast") }).toEqual({
        point,
        is: `${keptEntry!.ref}\n`,
      });
      expect({ point, is: readdirSync(join(world.repository, ".git/worktrees")) }).toEqual({ point, is: ["ab-9"] });
      expect(sh(world.repository, "branch", "--list", plan.branch)).toContain(plan.branch);
    }
    await expect(world.workspaces.empty(asTrashId("nothing-1"))).rejects.toThrow("does not exist");
    await world.workspaces.restore(keptEntry!.id);
    expect(existsSync(join(kept.path, "work.txt"))).toBe(true);
  });

  test("[TRASH-7] a directory that holds something not ours is left alone", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    const entry = await world.workspaces.trash(plan);
    put(join(world.trash, entry!.id), { "mine.txt": "a person's\n" });
    await expect(world.workspaces.empty(entry!.id)).rejects.toThrow("mine.txt");
    expect(statSync(join(world.trash, entry!.id, "tree")).isDirectory()).toBe(true);
  });
});
