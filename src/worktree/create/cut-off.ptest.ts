/** Killed inside a write: between the open of a file and its first byte. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { commit, dieAt, makeWorld, manifest, put, sh, type World } from "../worktree.fixture.ts";
import { storeOf } from "../trash/records.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;
const admin = (name: string): string => join(world.repository, ".git/worktrees", name);
/** Files of ours, wherever they may lie. */
const temporaries = (): string[] =>
  [world.repository, world.worktrees, world.trash]
    .filter((root) => existsSync(root))
    .flatMap((root) => readdirSync(root, { recursive: true, encoding: "utf8" }))
    .filter((name) => name.endsWith(".tmp"));

describe("the pointer", () => {
  test.each(["killed now", "left empty by an earlier build", "left empty, with files"])(
    "[WORKTREE-16][WORKTREE-17][SESSION-1] %s: create finishes it, undo leaves nothing",
    async (how) => {
      world = makeWorld();
      const refs = sh(world.repository, "for-each-ref");
      const cut = async (session: string): Promise<ReturnType<World["plan"]>> => {
        const plan = world.plan(session);
        // Here the temporary file is what is left; the earlier build left the pointer itself.
        if (how === "left empty, with files") {
          await world.workspaces.create(plan, quiet);
          rmSync(join(admin(session), "holdfast.json"));
        } else {
          dieAt(world, "write..git", "create", plan);
        }
        if (how !== "killed now") {
          for (const name of readdirSync(plan.path).filter((one) => one.endsWith(".tmp")))
            rmSync(join(plan.path, name));
          writeFileSync(join(plan.path, ".git"), "");
        }
        return plan;
      };
      const undone = await cut("ab-1");
      await world.workspaces.undo(undone);
      expect(existsSync(undone.path)).toBe(false);
      expect(existsSync(join(world.repository, ".git/worktrees"))).toBe(false);
      expect(sh(world.repository, "for-each-ref")).toBe(refs);
      expect(temporaries()).toEqual([]);

      const made = await cut("ab-2");
      expect(await world.workspaces.create(made, quiet)).toMatchObject({ path: made.path, branchCreated: true });
      expect(sh(made.path, "status", "--porcelain", "--branch")).toBe("## ab-2\n");
      expect(sh(world.repository, "worktree", "list", "--porcelain")).not.toContain("locked");
      expect(temporaries()).toEqual([]);
    },
  );

  test("[WORKTREE-17][TRASH-1] an empty one does not keep work from the trash, its ref, or its way back", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    put(plan.path, { "mine.txt": "mine\n" });
    const before = manifest(plan.path);
    writeFileSync(join(plan.path, ".git"), "");
    const entry = await world.workspaces.trash(plan);
    expect(entry).toMatchObject({ branch: "ab-1", uncommitted: 1, ref: expect.any(String) });
    await world.workspaces.restore(entry!.id);
    expect(manifest(plan.path)).toEqual(before);
  });

  test("[WORKTREE-17] an empty file where git has nothing registered is left alone", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    put(plan.path, { ".git": "", "mine.txt": "mine\n" });
    await expect(world.workspaces.create(plan, quiet)).rejects.toThrow("cannot be used");
    await world.workspaces.undo(plan);
    expect(readFileSync(join(plan.path, ".git"), "utf8")).toBe("");
  });
});

describe("the trash", () => {
  test.each(["write.locked", "write.HEAD", "write.gitdir"])(
    "[WORKTREE-16][TRASH-13] killed at %s: restored without a lock and without leftovers",
    async (point) => {
      world = makeWorld();
      const plan = world.plan("ab-1");
      await world.workspaces.create(plan, quiet);
      put(plan.path, { "mine.txt": "mine\n" });
      const before = manifest(plan.path);
      dieAt(world, point, "trash", plan);
      const entry = await world.workspaces.trash(plan);
      await world.workspaces.restore(entry!.id);
      expect(manifest(plan.path)).toEqual(before);
      expect(sh(world.repository, "worktree", "list", "--porcelain")).not.toContain("locked");
      expect(sh(plan.path, "status", "--porcelain", "--branch")).toBe("## ab-1\n?? mine.txt\n");
      expect(temporaries()).toEqual([]);
    },
  );

  test("[TRASH-13] a lock left empty by an earlier build goes; a lock of the user's own comes back", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    dieAt(world, "workspace.trash.pinned", "trash", plan);
    writeFileSync(join(admin("ab-1"), "locked"), "");
    await world.workspaces.restore((await world.workspaces.trash(plan))!.id);
    expect(existsSync(join(admin("ab-1"), "locked"))).toBe(false);
    for (const reason of [[], ["--reason", "mine"]]) {
      sh(world.repository, "worktree", "lock", ...reason, plan.path);
      dieAt(world, "write.locked", "trash", plan);
      await world.workspaces.restore((await world.workspaces.trash(plan))!.id);
      expect(readFileSync(join(admin("ab-1"), "locked"), "utf8").trim()).toBe(reason[1] ?? "");
      sh(world.repository, "worktree", "unlock", plan.path);
    }
  });

  test("[TRASH-13][WORKTREE-16] killed inside its record, an entry is not listed and goes at the next look", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    put(plan.path, { "mine.txt": "mine\n" });
    dieAt(world, "write.entry.json", "trash", plan);
    expect(temporaries()).toHaveLength(1);
    expect(await world.workspaces.listTrash()).toEqual([]);
    expect(readdirSync(world.trash)).toEqual([]);
    dieAt(world, "write.entry.json", "trash", plan);
    await world.workspaces.undo(plan);
    const [entry, ...more] = await world.workspaces.listTrash();
    expect(more).toEqual([]);
    expect(readdirSync(world.trash)).toEqual([entry!.id]);
    expect(existsSync(plan.path)).toBe(false);
    await world.workspaces.empty(entry!.id);
    expect(readdirSync(world.trash)).toEqual([]);
    // What a note of a restore left, killed between its file and its directory, does not keep the list from being read.
    mkdirSync(join(world.trash, ".restored-ab-1-x"));
    utimesSync(join(world.trash, ".restored-ab-1-x"), 1, 1);
    expect(await world.workspaces.listTrash()).toEqual([]);
    expect(readdirSync(world.trash)).toEqual([]);
  });
});

test("[WORKTREE-18] a SHA-256 repository: create, undo, changes, snapshot, trash, restore, empty", async () => {
  for (const commits of [true, false]) {
    world = makeWorld({ commits, objectFormat: "sha256" });
    const undone = world.plan("ab-1");
    await world.workspaces.create(undone, quiet);
    await world.workspaces.undo(undone);
    expect(existsSync(undone.path)).toBe(false);
    expect(sh(world.repository, "branch", "--list", "ab-1")).toBe("");
    const plan = world.plan("ab-2");
    const { base } = await world.workspaces.create(plan, quiet);
    if (commits) commit(plan.path, { "gone.txt": "gone\n", "staged.txt": "one\n" });
    if (commits) rmSync(join(plan.path, "gone.txt"));
    put(plan.path, { "new.txt": "new\n", "staged.txt": "two\n" });
    sh(plan.path, "add", "staged.txt");
    const changes = await world.workspaces.changes(plan.path, { base, defaultBranch: "main" });
    expect(changes.files.map(({ path }) => path)).toEqual(["new.txt", "staged.txt"]);
    const before = manifest(plan.path);
    const entry = await world.workspaces.trash(plan);
    expect(entry).toMatchObject({
      uncommitted: commits ? 3 : 2,
      ref: commits ? `refs/holdfast/trash/${entry!.id}` : null,
    });
    expect(entry).not.toHaveProperty("note");
    const store = `--git-dir=${storeOf(world.trash, entry!.id)}`;
    expect(sh(world.dir, store, "rev-parse", "snapshot").trim()).toMatch(/^[0-9a-f]{64}$/);
    expect(sh(world.dir, store, "ls-tree", "--name-only", "snapshot")).toBe(
      commits ? ".gitignore\nfile.txt\nnew.txt\nstaged.txt\n" : "new.txt\nstaged.txt\n",
    );
    expect(await world.workspaces.restore(entry!.id)).toEqual({ path: plan.path, branch: "ab-2", notes: [] });
    expect(manifest(plan.path)).toEqual(before);
    const again = await world.workspaces.trash(plan);
    await world.workspaces.empty(again!.id);
    expect(existsSync(join(world.repository, ".git/worktrees"))).toBe(false);
    if (commits) world.remove();
  }
});
