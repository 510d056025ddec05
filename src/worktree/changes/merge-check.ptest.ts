import { readdirSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commit, makeWorld, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

const none = { heads: [], mergeCommit: null, defaultBranch: "main" };

async function branchWithTwoCommits(): Promise<{ path: string; base: string }> {
  world = makeWorld();
  const plan = world.plan("ab-1");
  const { base } = await world.workspaces.create(plan, () => undefined);
  commit(plan.path, { "a.txt": "a\n" });
  commit(plan.path, { "b.txt": "b\n" });
  return { path: plan.path, base };
}

test("[TRACKER-34] open work is named; a squash is recognised by its change or its files, a rebase commit by commit", async () => {
  const { path } = await branchWithTwoCommits();
  const { repository, workspaces } = world;
  const head = sh(path, "rev-parse", "HEAD").trim();
  const open = await workspaces.mergeFacts({ path, ...none });
  expect(open).toMatchObject({ sameFiles: false, samePatch: false });
  expect(open.ahead).toHaveLength(2);
  expect(open.behindNoHead).toEqual(open.ahead);
  expect((await workspaces.mergeFacts({ path, ...none, heads: [head] })).behindNoHead).toEqual([]);
  // An id that was never fetched proves nothing.
  expect((await workspaces.mergeFacts({ path, ...none, heads: ["f".repeat(40)] })).behindNoHead).toHaveLength(2);

  commit(repository, { "other.txt": "x\n" });
  sh(repository, "merge", "--squash", "ab-1");
  sh(repository, "commit", "-q", "-m", "squashed");
  expect(await workspaces.mergeFacts({ path, ...none })).toMatchObject({ sameFiles: true, samePatch: true });
  // The base goes on in the same file: only the change itself still tells.
  commit(repository, { "a.txt": "later\n" });
  expect(await workspaces.mergeFacts({ path, ...none })).toMatchObject({ sameFiles: false, samePatch: true });
  // One more commit than was merged.
  commit(path, { "c.txt": "c\n" });
  const more = await workspaces.mergeFacts({ path, ...none, heads: [head] });
  expect(more).toMatchObject({ sameFiles: false, samePatch: false });
  expect(more.behindNoHead).toHaveLength(1);
});

test("[TRACKER-34] a rebase is recognised commit by commit", async () => {
  const { path } = await branchWithTwoCommits();
  commit(world.repository, { "other.txt": "x\n" });
  sh(world.repository, "cherry-pick", "ab-1~1", "ab-1");
  commit(world.repository, { "a.txt": "later\n" });
  expect(await world.workspaces.mergeFacts({ path, ...none })).toMatchObject({ sameFiles: false, samePatch: true });
});

test("[TRACKER-30] a commit is the session's own when it has it and its beginning has not", async () => {
  const { path, base } = await branchWithTwoCommits();
  const { workspaces } = world;
  const own = sh(path, "rev-parse", "HEAD~1").trim();
  expect(await workspaces.isOwnCommit(path, own, base)).toBe(true);
  expect(await workspaces.isOwnCommit(path, base, base)).toBe(false);
  expect(await workspaces.isOwnCommit(path, "f".repeat(40), base)).toBe(false);
  expect(await workspaces.isOwnCommit(path, "--all", base)).toBe(false);
  commit(world.repository, { "x.txt": "x\n" });
  expect(await workspaces.isOwnCommit(path, sh(world.repository, "rev-parse", "HEAD").trim(), base)).toBe(false);
});

test("[TRACKER-35] nothing of the repository is run, and what git cannot tell is no answer", async () => {
  const { path, base } = await branchWithTwoCommits();
  const { repository, workspaces, dir } = world;
  const ran = join(dir, "ran");
  put(ran, { ".keep": "" });
  put(dir, { evil: `#!/bin/sh\ntouch '${ran}/evil'\ncat\n` });
  chmodSync(join(dir, "evil"), 0o755);
  put(repository, { ".git/info/attributes": "* filter=evil diff=evil merge=evil\n" });
  const keys = ["filter.evil.clean", "diff.evil.textconv", "diff.evil.command", "diff.external", "merge.evil.driver"];
  for (const key of [...keys, "core.fsmonitor"]) sh(repository, "config", key, join(dir, "evil"));
  await workspaces.mergeFacts({ path, ...none });
  await workspaces.isOwnCommit(path, base, base);
  expect(readdirSync(ran)).toEqual([".keep"]);
  await expect(workspaces.mergeFacts({ path: join(dir, "nowhere"), ...none })).rejects.toThrow("is not a worktree");
  const bare = await workspaces.mergeFacts({ path, ...none, defaultBranch: "no-such-branch" });
  expect(bare).toMatchObject({ sameFiles: null, samePatch: null });
  expect(bare.behindNoHead.length).toBeGreaterThan(0);
});
