import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findFreeBranch } from "./start.ts";
import { commit, makeWorld, sh, type World } from "../worktree.fixture.ts";
import { openWorktrees } from "../worktrees.ts";

let world: World;
afterEach(() => world.remove());

test.each(["files", "packed", "reftable"])("[WORKTREE-5] a name that is taken is stepped over (%s)", async (format) => {
  world = makeWorld();
  const { repository } = world;
  for (const name of ["8", "8-2", "80", "deep/er", "flat", "deep-2/er"]) sh(repository, "branch", name);
  // Not every git can make such tables; where the directory is there, git is asked instead of its files.
  if (format === "reftable") mkdirSync(join(repository, ".git/reftable"));
  if (format === "packed") sh(repository, "pack-refs", "--all");
  const free = (wanted: string): Promise<string> => findFreeBranch(repository, wanted);
  expect(await free("8")).toBe("8-3");
  expect(await free("80")).toBe("80-2");
  expect(await free("new")).toBe("new");
  expect(await free("deep")).toBe("deep-3");
  expect(await free("flat/er")).toBe("flat-er");
  expect(await free("main")).toBe("main-2");
  expect(await free("de")).toBe("de");
});

test("[WORKTREE-5] an unborn branch that a worktree is on is taken", async () => {
  world = makeWorld({ commits: false });
  expect(await findFreeBranch(world.repository, "main")).toBe("main-2");
  await world.workspaces.create(world.plan("ab-1"), () => undefined);
  expect(await findFreeBranch(world.repository, "ab-1")).toBe("ab-1-2");
});

test("[WORKTREE-6] a session of another home with the same id is a different one: its branch never counts as ours", async () => {
  world = makeWorld();
  const { repository, workspaces, plan, dir } = world;
  const first = await workspaces.create(plan("ab-8", { branch: "8" }), () => undefined);
  const unpushed = commit(first.path, { "new.txt": "not pushed\n" });
  sh(first.path, "switch", "--quiet", "--detach");

  const other = openWorktrees({
    worktreesDirectory: join(dir, "other/worktrees"),
    trashDirectory: join(dir, "other/trash"),
    now: Date.now,
  });
  const theirs = plan("ab-8", { branch: "8", path: join(dir, "other/worktrees/p/ab-8") });
  expect(await other.create(theirs, () => undefined)).toMatchObject({ branchCreated: false, base: unpushed });
  await other.undo(theirs);
  expect(sh(repository, "rev-parse", "8").trim()).toBe(unpushed);

  // A fresh branch of the first home has no commit of its own, and still the other home may not delete it.
  await workspaces.create(plan("ab-9"), () => undefined);
  sh(plan("ab-9").path, "switch", "--quiet", "--detach");
  await other.undo({ ...plan("ab-9"), path: join(dir, "other/worktrees/p/ab-9") });
  expect(sh(repository, "branch", "--list", "ab-9").trim()).toBe("ab-9");
  // Its own home finds it again.
  sh(plan("ab-9").path, "switch", "--quiet", "ab-9");
  await workspaces.undo(plan("ab-9"));
  expect(sh(repository, "branch", "--list", "ab-9").trim()).toBe("");
});
