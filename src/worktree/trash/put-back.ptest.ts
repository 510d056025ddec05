import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { WorktreePlan, WorktreeReady } from "../../ports/worktree.ts";
import { commit, makeWorld, manifest, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;
const admin = (name: string): string => join(world.repository, ".git/worktrees", name);
const make = async (session: string): Promise<WorktreePlan & WorktreeReady> => {
  const plan = world.plan(session);
  return { ...plan, ...(await world.workspaces.create(plan, quiet)) };
};

test("[WORKTREE-19] the registration of a deleted worktree goes and its branch is free; nothing else is touched", async () => {
  world = makeWorld();
  const plan = await make("ab-1");
  const other = await make("ab-2");
  const head = commit(plan.path, { "a.txt": "a\n" });
  for (const { path } of [plan, other]) rmSync(path, { recursive: true });
  expect(await world.workspaces.trash(plan)).toBeNull();
  expect(existsSync(admin("ab-1"))).toBe(false);
  expect(existsSync(admin("ab-2"))).toBe(true);
  sh(world.repository, "switch", "--quiet", "ab-1");
  expect(sh(world.repository, "rev-parse", "HEAD").trim()).toBe(head);
});

test("[WORKTREE-19] it stays where it holds something, is locked, is another's, or the directory above is missing", async () => {
  world = makeWorld();
  const keeps: [string, (plan: WorktreePlan) => void][] = [
    ["staged", ({ path }) => (put(path, { "s.txt": "s\n" }), void sh(path, "add", "s.txt"))],
    ["detached", ({ path }) => (sh(path, "switch", "--quiet", "--detach"), void commit(path, { "d.txt": "d\n" }))],
    ["locked", ({ path }) => void sh(world.repository, "worktree", "lock", path)],
    ["other", () => put(admin("ab-other"), { "holdfast.json": JSON.stringify({ is: "ready", session: "ab-9" }) })],
  ];
  for (const [name, change] of keeps) {
    const plan = await make(`ab-${name}`);
    change(plan);
    rmSync(plan.path, { recursive: true });
    expect(await world.workspaces.trash(plan), name).toBeNull();
    expect(existsSync(admin(`ab-${name}`)), name).toBe(true);
  }
  const plan = await make("ab-unmounted");
  renameSync(dirname(plan.path), join(world.dir, "elsewhere"));
  expect(await world.workspaces.trash(plan)).toBeNull();
  expect(existsSync(admin("ab-unmounted"))).toBe(true);
});

test("[WORKTREE-20] a worktree that is put back is found, registered again, with every file as it was", async () => {
  world = makeWorld();
  const plan = await make("ab-1");
  const away = join(world.dir, "away");
  commit(plan.path, { "a.txt": "a\n" });
  put(plan.path, { "a.txt": "changed\n", "new.txt": "new\n" });
  const before = { files: manifest(plan.path), status: sh(plan.path, "status", "--porcelain", "--branch") };
  renameSync(plan.path, away);
  expect(await world.workspaces.trash(plan)).toBeNull();
  expect(existsSync(admin("ab-1"))).toBe(false);
  expect(await world.workspaces.findReturned(plan)).toBe(false);
  mkdirSync(plan.path);
  expect(await world.workspaces.findReturned(plan)).toBe(false);
  rmSync(plan.path, { recursive: true });
  renameSync(away, plan.path);
  for (const times of [1, 2]) {
    expect(await world.workspaces.findReturned(plan), String(times)).toBe(true);
    expect({
      files: manifest(plan.path),
      status: sh(plan.path, "status", "--porcelain", "--branch"),
    }).toEqual(before);
  }
  expect(sh(world.repository, "fsck", "--no-dangling", "--strict")).toBe("");
  expect(await world.workspaces.trash(plan)).toMatchObject({ branch: "ab-1", uncommitted: 2 });
});

test("[WORKTREE-20] what lies there but is another's is not found", async () => {
  world = makeWorld();
  const plan = await make("ab-1");
  const other = await make("ab-2");
  rmSync(plan.path, { recursive: true });
  expect(await world.workspaces.trash(plan)).toBeNull();
  renameSync(other.path, plan.path);
  expect(await world.workspaces.findReturned(plan)).toBe(false);
  rmSync(plan.path, { recursive: true });
  mkdirSync(plan.path);
  sh(plan.path, "init", "--quiet");
  expect(await world.workspaces.findReturned(plan)).toBe(false);
  expect(readFileSync(join(plan.path, ".git/HEAD"), "utf8")).toContain("refs/heads/");
});
