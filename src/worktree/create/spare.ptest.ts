import { existsSync, readFileSync, readdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createPoints, sparePoints } from "../points.fixture.ts";
import { slowCheckoutMs } from "./spare.ts";
import { commit, dieAt, makeWorld, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;
const clean = (path: string): string => sh(path, "status", "--porcelain", "--untracked-files=all");
const spares = (): string[] => {
  const directory = join(world.worktrees, ".spare");
  return existsSync(directory) ? readdirSync(directory).filter((name) => !name.endsWith(".json")) : [];
};

test("[WORKTREE-24] a spare is claimed, at its commit or brought to a newer one, and is an ordinary worktree then", async () => {
  world = makeWorld();
  const { workspaces, repository, plan } = world;
  await workspaces.prepareSpare(repository, "main", true);
  expect(spares()).toHaveLength(1);
  const first = plan("ab-1");
  await workspaces.create(first, quiet);
  expect(spares()).toEqual([]);
  expect([clean(first.path), workspaces.liveBranch(first.path)]).toEqual(["", "ab-1"]);

  await workspaces.prepareSpare(repository, "main", true);
  const newer = commit(repository, { "file.txt": "newer\n", "added.txt": "added\n" });
  const second = plan("ab-2");
  expect(await workspaces.create(second, quiet)).toMatchObject({ base: newer, branchCreated: true });
  expect(spares()).toEqual([]);
  expect(readFileSync(join(second.path, "file.txt"), "utf8")).toBe("newer\n");
  expect(clean(second.path)).toBe("");

  await workspaces.prepareSpare(repository, "main", true);
  commit(repository, { "file.txt": "newest\n" });
  await workspaces.prepareSpare(repository, "main", true);
  put(second.path, { "work.txt": "work\n" });
  const entry = await workspaces.trash(second);
  expect(await workspaces.restore(entry!.id)).toMatchObject({ branch: "ab-2", notes: [] });
});

test("[WORKTREE-25] no spare where the checkout is fast or there are submodules", async () => {
  world = makeWorld();
  const { workspaces, repository, plan } = world;
  await workspaces.prepareSpare(repository, "main");
  await workspaces.create(plan("ab-1"), quiet);
  // As if it had just been fast enough: a machine that stalls may need a second for any checkout.
  const folder = join(world.worktrees, ".spare");
  const cost = readdirSync(folder).find((name) => name.endsWith(".json"))!;
  writeFileSync(join(folder, cost), JSON.stringify({ checkoutMs: slowCheckoutMs - 1 }));
  await workspaces.prepareSpare(repository, "main");
  expect(spares()).toEqual([]);
  commit(repository, { ".gitmodules": "" });
  await workspaces.prepareSpare(repository, "main", true);
  expect(spares()).toEqual([]);
});

test("[WORKTREE-26] a crash while preparing or claiming leaves nothing confusing", async () => {
  world = makeWorld();
  const { workspaces, repository, plan } = world;
  for (const point of sparePoints) {
    dieAt(world, point, "spare", plan("ab-0"));
    await workspaces.prepareSpare(repository, "main", true);
    expect(spares()).toHaveLength(1);
    commit(repository, { "file.txt": `${point}\n` });
  }
  for (const [index, point] of createPoints.slice(0, 4).entries()) {
    const claimed = plan(`ab-${index}`);
    dieAt(world, point, "create", claimed);
    expect({ point, is: await workspaces.create(claimed, quiet) }).toMatchObject({
      point,
      is: { branchCreated: true },
    });
    expect({ point, is: [clean(claimed.path), workspaces.liveBranch(claimed.path)] }).toEqual({
      point,
      is: ["", claimed.branch],
    });
    expect({ point, is: spares() }).toEqual({ point, is: [] });
    await workspaces.prepareSpare(repository, "main", true);
    commit(repository, { "file.txt": `${point}\n` });
  }
  // Killed behind the rename, before git was told.
  await workspaces.prepareSpare(repository, "main", true);
  const moved = plan("ab-9");
  renameSync(join(world.worktrees, ".spare", spares()[0]!), moved.path);
  await workspaces.create(moved, quiet);
  expect([clean(moved.path), workspaces.liveBranch(moved.path)]).toEqual(["", moved.branch]);
  expect(sh(repository, "worktree", "list", "--porcelain")).toContain(`worktree ${realpathSync(moved.path)}\n`);
  // Killed between two commits, the spare must not pass for one that is ready at the old one.
  const old = sh(repository, "rev-parse", "HEAD~1").trim();
  await workspaces.prepareSpare(repository, "main", true);
  const before = sh(repository, "rev-parse", "HEAD").trim();
  commit(repository, { "file.txt": "between\n" });
  dieAt(world, "workspace.spare.checked-out", "spare", plan("ab-0"));
  for (const base of [before, old]) {
    const behind = plan(`ab-${base.slice(0, 7)}`, { base });
    await workspaces.create(behind, quiet);
    expect(clean(behind.path)).toBe("");
  }
});
