import { chmodSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commit, makeWorld, manifest, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;
const onMain = { base: "", defaultBranch: "main" };

async function worktree(session = "ab-1"): Promise<string> {
  const plan = world.plan(session);
  await world.workspaces.create(plan, quiet);
  return plan.path;
}

test("[API-43] committed, staged, unstaged, untracked and conflicting files are distinguished, against the merge base", async () => {
  world = makeWorld();
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`).join("\n");
  const began = commit(world.repository, { "moved.txt": lines, "gone.txt": "g\n", "both.txt": "1\n", "x.bin": "a\0b" });
  const path = await worktree();
  commit(path, { "committed.txt": "one\ntwo\n", "both.txt": "2\n" });
  put(path, { "staged.txt": "s\n" });
  sh(path, "mv", "moved.txt", "renamed.txt");
  sh(path, "add", "staged.txt");
  put(path, { "both.txt": "3\n", "x.bin": "a\0c", "new/ünï.txt": "u\n", "a.ignored": "no\n", "empty file": "" });
  rmSync(join(path, "gone.txt"));
  // Others went on: that is not this session's doing.
  commit(world.repository, { "theirs.txt": "t\n" });

  const before = {
    files: manifest(path),
    index: statSync(join(sh(path, "rev-parse", "--git-dir").trim(), "index")).mtimeMs,
  };
  const found = await world.workspaces.changes(path, onMain);
  expect(found).toMatchObject({ base: "main", mergeBase: began, truncated: false });
  expect(found.files.map(({ path: name, oldPath, status, areas }) => [name, oldPath, status, areas.join("+")])).toEqual(
    [
      ["both.txt", null, "modified", "committed+unstaged"],
      ["committed.txt", null, "added", "committed"],
      ["empty file", null, "untracked", "untracked"],
      ["gone.txt", null, "deleted", "unstaged"],
      ["new/ünï.txt", null, "untracked", "untracked"],
      ["renamed.txt", "moved.txt", "renamed", "staged"],
      ["staged.txt", null, "added", "staged"],
      ["x.bin", null, "modified", "unstaged"],
    ],
  );
  const by = (name: string): unknown => found.files.find((file) => file.path === name);
  expect(by("committed.txt")).toMatchObject({ additions: 2, deletions: 0, binary: false });
  expect(by("both.txt")).toMatchObject({ additions: 1, deletions: 1 });
  expect(by("x.bin")).toMatchObject({ additions: 0, deletions: 0, binary: true });

  const whole = await world.workspaces.patch(path, onMain, null);
  expect(whole.truncated).toBe(false);
  expect(whole.patch).toContain("+++ b/new/ünï.txt\n@@ -0,0 +1 @@\n+u\n");
  expect(whole.patch).toContain("rename from moved.txt\nrename to renamed.txt\n");
  expect(whole.patch).toContain("Binary files a/x.bin and b/x.bin differ\n");
  expect(whole.patch).not.toContain("ignored");
  expect((await world.workspaces.patch(path, onMain, "renamed.txt")).patch).toContain("rename from moved.txt\n");
  expect((await world.workspaces.patch(path, onMain, "both.txt")).patch.match(/^diff --git/gm)).toHaveLength(1);
  expect(await world.workspaces.patch(path, onMain, "theirs.txt")).toEqual({ patch: "", truncated: false });
  await expect(world.workspaces.patch(path, onMain, "../../etc/passwd")).rejects.toThrow("a file's path inside");

  // The patch is one that git takes, and gives this very worktree.
  const copy = join(world.dir, "copy");
  sh(world.dir, "clone", "--quiet", world.repository, copy);
  sh(copy, "checkout", "--quiet", began);
  put(world.dir, { "whole.patch": whole.patch.replace(/^diff --git a\/x\.bin[^]*?(?=^diff --git|(?![^]))/m, "") });
  sh(copy, "apply", join(world.dir, "whole.patch"));
  expect(readFileSync(join(copy, "both.txt"), "utf8")).toBe("3\n");
  expect(readFileSync(join(copy, "new/ünï.txt"), "utf8")).toBe("u\n");

  // Looking left no trace.
  const index = statSync(join(sh(path, "rev-parse", "--git-dir").trim(), "index")).mtimeMs;
  expect({ files: manifest(path), index }).toEqual(before);
  expect(readdirSync(join(world.worktrees, ".scratch"))).toEqual([]);
});

test("[API-43] a merge conflict, an unborn branch and a base that the agent took up are compared too", async () => {
  world = makeWorld();
  const path = await worktree();
  commit(path, { "file.txt": "mine\n" });
  const later = commit(world.repository, { "file.txt": "theirs\n", "theirs.txt": "t\n" });
  expect(() => sh(path, "merge", "main")).toThrow("Command failed");
  const conflicted = await world.workspaces.changes(path, onMain);
  expect(conflicted.files.find((file) => file.path === "file.txt")).toMatchObject({ status: "conflicted" });
  expect((await world.workspaces.patch(path, onMain, "file.txt")).patch).toContain("+<<<<<<< HEAD\n");
  put(path, { "file.txt": "both\n" });
  commit(path, {}, "merged");
  const merged = await world.workspaces.changes(path, { ...onMain, base: sh(path, "rev-parse", "HEAD~1").trim() });
  expect(merged.mergeBase).toBe(later);
  expect(merged.files.map((file) => file.path)).toEqual(["file.txt"]);

  world.remove();
  world = makeWorld({ commits: false });
  const unborn = world.plan("ab-1");
  await world.workspaces.create(unborn, () => undefined);
  put(unborn.path, { "first.txt": "1\n" });
  const first = await world.workspaces.changes(unborn.path, onMain);
  expect(first).toMatchObject({ mergeBase: null, head: null });
  expect(first.files.map((file) => [file.path, file.status])).toEqual([["first.txt", "untracked"]]);
  await expect(world.workspaces.changes(join(world.dir, "nowhere"), onMain)).rejects.toThrow("is not a worktree");
});

test("[API-45] a patch has a limit for all and for each file, and git is not let run on", async () => {
  world = makeWorld();
  const path = await worktree();
  const line = `${"x".repeat(99)}\n`;
  put(path, { "a-large.txt": line.repeat(30_000), "b-small.txt": "b\n" });
  for (let at = 0; at < 4; at++) put(path, { [`c-${at}.txt`]: line.repeat(19_000) });
  const one = await world.workspaces.patch(path, onMain, "a-large.txt");
  expect(one.truncated).toBe(true);
  expect(one.patch.length).toBeLessThanOrEqual(2 * 1024 * 1024);
  const counted = /@@ -0,0 \+1,(\d+) @@/.exec(one.patch)?.[1];
  expect(one.patch.match(/^\+x/gm)).toHaveLength(Number(counted));
  const whole = await world.workspaces.patch(path, onMain, null);
  expect(whole.truncated).toBe(true);
  expect(whole.patch.length).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(whole.patch).toContain("+++ b/b-small.txt\n@@ -0,0 +1 @@\n+b\n");
  expect(whole.patch).toContain("+++ b/c-2.txt\n");
});

test("[API-44] looking runs nothing that a hostile repository names", async () => {
  world = makeWorld();
  const ran = join(world.dir, "ran");
  put(ran, { ".keep": "" });
  commit(world.repository, { ".gitattributes": "* filter=evil diff=evil\n", "a.txt": "a\n", "b.txt": "b\n" });
  const path = await worktree();
  for (const name of ["clean", "smudge", "process", "textconv", "external", "driver", "fsmonitor", "hook", "pager"]) {
    put(world.dir, { [`evil-${name}`]: `#!/bin/sh\ntouch '${ran}/${name}'\ncat\n` });
    chmodSync(join(world.dir, `evil-${name}`), 0o755);
  }
  const set = (key: string, name: string): string =>
    sh(world.repository, "config", key, join(world.dir, `evil-${name}`));
  set("filter.evil.clean", "clean");
  set("filter.evil.smudge", "smudge");
  set("filter.evil.process", "process");
  set("diff.evil.textconv", "textconv");
  set("diff.evil.command", "driver");
  set("diff.external", "external");
  set("core.fsmonitor", "fsmonitor");
  set("core.pager", "pager");
  sh(world.repository, "config", "core.hooksPath", world.dir);
  for (const hook of ["post-index-change", "reference-transaction"]) {
    put(world.dir, { [hook]: `#!/bin/sh\ntouch '${ran}/hook'\n` });
    chmodSync(join(world.dir, hook), 0o755);
  }
  sh(world.repository, "config", "diff.noprefix", "true");
  put(path, { "a.txt": "changed\n", "new.txt": "n\n" });
  expect((await world.workspaces.changes(path, onMain)).files).toHaveLength(2);
  expect((await world.workspaces.patch(path, onMain, null)).patch).toContain("--- a/a.txt\n+++ b/a.txt\n");
  expect((await world.workspaces.files(path, "txt", 10)).files).toContain("new.txt");
  expect(readdirSync(ran)).toEqual([".keep"]);
  // The traps are live.
  sh(path, "diff");
  expect(readdirSync(ran)).not.toEqual([".keep"]);
});

test("[API-46] tracked and untracked files are offered, ignored ones are not, and the limit is reported", async () => {
  world = makeWorld();
  const path = await worktree();
  put(path, { "src/one.ts": "", "src/two.ts": "", "node_modules/one.ts": "", "one.ignored": "" });
  expect(await world.workspaces.files(path, "one", 50)).toEqual({ files: ["src/one.ts"], truncated: false });
  expect(await world.workspaces.files(path, "ts", 1)).toEqual({ files: ["src/one.ts"], truncated: true });
  expect((await world.workspaces.files(path, "", 50)).files).toEqual([
    "file.txt",
    ".gitignore",
    "src/one.ts",
    "src/two.ts",
  ]);
});

test("[API-47] a worktree in the trash is compared where it lies", async () => {
  world = makeWorld();
  const path = await worktree();
  commit(path, { "kept.txt": "k\n" });
  put(path, { "loose.txt": "l\n" });
  const entry = await world.workspaces.trash(world.plan("ab-1"));
  const kept = await world.workspaces.trashedAt(entry!.id);
  const found = await world.workspaces.changes(kept!, onMain);
  expect(found.files.map((file) => [file.path, file.areas])).toEqual([
    ["kept.txt", ["committed"]],
    ["loose.txt", ["untracked"]],
  ]);
  await world.workspaces.empty(entry!.id);
  expect(await world.workspaces.trashedAt(entry!.id)).toBeNull();
});
