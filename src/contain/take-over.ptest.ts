/** Taking over from folders that an agent filled as it liked, with real git. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runGit } from "../worktree/git/git.ts";
import { gitMounts, gitPathsOf, privateObjects, privateRefs } from "./git-mounts.ts";
import { maxPackBytes, type GitRun } from "./objects.ts";
import { recordRepository, forgetRepository, takeOver } from "./take-over.ts";

let root: string;
let own: string;
const branch = "holdfast/a-1/work";

const at = (...parts: string[]): string => join(root, ...parts);

function git(args: string[], env: Record<string, string> = {}): string {
  const identity = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b" };
  const all = { ...process.env, ...identity, GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b", ...env };
  return execFileSync("git", args, { cwd: at("wt"), encoding: "utf8", env: all }).trim();
}

/** As git does inside, where the private folders are mounted over the shared ones. */
const inside = (...args: string[]): string =>
  git(args, {
    GIT_OBJECT_DIRECTORY: privateObjects(own).objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: at("repo/.git/objects"),
  });

/** A commit inside: its objects and its ref go to private folders, and the repository's ref stays. */
function commit(message: string): string {
  const tree = inside("write-tree");
  const tip = inside("commit-tree", "-p", "HEAD", "-m", message, tree);
  writeFileSync(join(privateRefs(own).refs, "work"), `${tip}\n`);
  return tip;
}

const run: GitRun = (kind, args, call) => runGit(kind, args, call);
const taken = (): Promise<string[]> => takeOver(own, "a-1", run);
const tip = (): string => git(["-C", at("repo"), "rev-parse", branch]);
const fsck = (): string => spawnSync("git", ["-C", at("repo"), "fsck", "--strict"], { encoding: "utf8" }).stderr;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "hf-take-"));
  own = at("own");
  mkdirSync(at("wt"));
  git(["init", "-q", "-b", "main", at("repo")]);
  git(["-C", at("repo"), "commit", "-q", "--allow-empty", "-m", "first"]);
  git(["-C", at("repo"), "worktree", "add", "-q", "-b", branch, at("wt")]);
  mkdirSync(own);
  recordRepository(own, gitPathsOf(at("wt"))!, branch);
});

afterEach(() => rmSync(root, { recursive: true }));

test("[CONTAIN-4] commits arrive with the branch, once, and packs too", async () => {
  writeFileSync(at("wt/a"), "one");
  inside("add", "a");
  const first = commit("one");
  expect(await taken()).toEqual([]);
  expect(tip()).toBe(first);
  expect(git(["-C", at("repo"), "show", `${branch}:a`])).toBe("one");
  writeFileSync(at("wt/a"), "two");
  inside("add", "a");
  const second = commit("two");
  const { objects } = privateObjects(own);
  const ids = `${second}\n${inside("rev-parse", `${second}^{tree}`)}\n${inside("rev-parse", ":a")}\n`;
  execFileSync("git", ["pack-objects", "-q", join(objects, "pack/pack")], {
    cwd: at("wt"),
    input: ids,
    env: { ...process.env, GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: at("repo/.git/objects") },
  });
  for (const id of ids.trim().split("\n")) rmSync(join(objects, id.slice(0, 2), id.slice(2)));
  expect(await taken()).toEqual([]);
  expect(tip()).toBe(second);
  expect(fsck()).toBe("");
});

test("[CONTAIN-13] what is not the object that it is named by stays where it is, and nothing existing is replaced", async () => {
  const { objects } = privateObjects(own);
  const put = (id: string, content: Buffer | string): void => {
    mkdirSync(join(objects, id.slice(0, 2)), { recursive: true });
    writeFileSync(join(objects, id.slice(0, 2), id.slice(2)), content);
  };
  const forged = "ab".repeat(20);
  put(forged, deflateSync("blob 4\0evil"));
  put("cd".repeat(20), "no zlib at all");
  put("ef".repeat(20), deflateSync("blob 9\0short"));
  const head = git(["rev-parse", "HEAD"]);
  const real = readFileSync(at("repo/.git/objects", head.slice(0, 2), head.slice(2)));
  put(head, deflateSync("commit 4\0evil"));
  const outside = at("outside");
  writeFileSync(outside, deflateSync("blob 6\0secret"));
  mkdirSync(join(objects, "12"));
  symlinkSync(outside, join(objects, "12", "3".repeat(38)));
  execFileSync("mkfifo", [join(objects, "12", "4".repeat(38))]);
  symlinkSync(at("repo"), join(objects, "34"));
  writeFileSync(join(objects, "pack", `pack-${"5".repeat(40)}.pack`), "PACK and garbage");
  // A true object with something behind its end: git would call that corrupt.
  const good = inside("hash-object", "-w", "-t", "blob", at("outside"));
  const file = join(objects, good.slice(0, 2), good.slice(2));
  chmodSync(file, 0o644);
  appendFileSync(file, "garbage");
  const problems = await taken();
  expect(problems.filter((line) => !line.includes(file))).toHaveLength(6);
  for (const id of [forged, "cd".repeat(20), "ef".repeat(20), `12${"3".repeat(38)}`]) {
    expect(existsSync(at("repo/.git/objects", id.slice(0, 2), id.slice(2)))).toBe(false);
  }
  expect(readFileSync(at("repo/.git/objects", head.slice(0, 2), head.slice(2)))).toEqual(real);
  expect(fsck().replaceAll(/^.*dangling.*$/gm, "")).toBe("");
});

test("[CONTAIN-13] a pack never comes into memory; a refused or oversized one is tried once, and again when it changed", async () => {
  const { objects } = privateObjects(own);
  const pack = join(objects, "pack", `pack-${"5".repeat(40)}.pack`);
  const huge = join(objects, "pack", `pack-${"6".repeat(40)}.pack`);
  writeFileSync(pack, "PACK and garbage");
  writeFileSync(huge, "");
  truncateSync(huge, maxPackBytes + 1);
  const calls: unknown[] = [];
  const counted: GitRun = (kind, args, call) => {
    if (args[0] === "index-pack") calls.push(typeof call.inputFile);
    return runGit(kind, args, call);
  };
  expect(await takeOver(own, "a-1", counted)).toHaveLength(2);
  expect(await takeOver(own, "a-1", counted)).toEqual([]);
  expect(calls).toEqual(["number"]);
  appendFileSync(pack, "more");
  expect(await takeOver(own, "a-1", counted)).toHaveLength(1);
  expect(calls).toHaveLength(2);
});

test("[CONTAIN-13] a branch moves only to a commit with all that belongs to it, and no link or symbolic ref is one", async () => {
  const before = tip();
  writeFileSync(at("wt/a"), "one");
  inside("add", "a");
  const blob = inside("rev-parse", ":a");
  commit("without its file");
  const { objects } = privateObjects(own);
  rmSync(join(objects, blob.slice(0, 2), blob.slice(2)));
  expect((await taken())[0]).toMatch(/is not a complete commit$/);
  expect(tip()).toBe(before);
  const { refs } = privateRefs(own);
  writeFileSync(join(refs, "work"), "ref: refs/heads/main\n");
  symlinkSync(at("repo/.git/refs/heads/main"), join(refs, "link"));
  writeFileSync(join(refs, "nothing"), `${"1".repeat(40)}\n`);
  await taken();
  expect(git(["-C", at("repo"), "for-each-ref", "--format=%(refname)", "refs/heads/holdfast"])).toBe(
    `refs/heads/${branch}`,
  );
  expect(tip()).toBe(before);
});

test("[CONTAIN-13] a branch that was moved outside is shown inside; moved on both sides, neither is lost", async () => {
  const outside = git(["-C", at("repo"), "commit-tree", "-p", branch, "-m", "outside", `${branch}^{tree}`]);
  git(["-C", at("repo"), "update-ref", `refs/heads/${branch}`, outside]);
  expect(await taken()).toEqual([]);
  expect(readFileSync(join(privateRefs(own).refs, "work"), "utf8").trim()).toBe(outside);
  const both = commit("inside");
  const other = git(["-C", at("repo"), "commit-tree", "-p", branch, "-m", "other", `${branch}^{tree}`]);
  git(["-C", at("repo"), "update-ref", `refs/heads/${branch}`, other]);
  expect((await taken())[0]).toContain("kept as refs/holdfast/contained/a-1/work");
  expect(tip()).toBe(other);
  expect(git(["-C", at("repo"), "rev-parse", "refs/holdfast/contained/a-1/work"])).toBe(both);
});

test("[CONTAIN-4] after rm -rf of all that is writable, git works again on the branch as it was taken over", async () => {
  writeFileSync(at("wt/a"), "one");
  inside("add", "a");
  const done = commit("one");
  await taken();
  const places = gitPathsOf(at("wt"))!;
  for (const name of ["HEAD", "index", "logs", "ORIG_HEAD"])
    rmSync(join(places.admin, name), { recursive: true, force: true });
  for (const folder of [privateObjects(own).objects, privateRefs(own).refs, privateRefs(own).logs])
    rmSync(folder, { recursive: true });
  await taken();
  recordRepository(own, places, branch);
  expect(readFileSync(join(privateRefs(own).refs, "work"), "utf8").trim()).toBe(done);
  expect(git(["status", "--porcelain"])).toBe("");
  expect(fsck()).toBe("");
});

test("[CONTAIN-1] links that the agent left where Holdfast or git writes later are never followed", async () => {
  const { admin } = gitPathsOf(at("wt"))!;
  writeFileSync(at("victim"), "mine");
  rmSync(join(admin, "logs/HEAD"));
  symlinkSync(at("victim"), join(admin, "logs/HEAD"));
  symlinkSync(at("victim"), join(admin, "holdfast.json.tmp"));
  await taken();
  expect([join(admin, "logs/HEAD"), join(admin, "holdfast.json.tmp")].filter((path) => existsSync(path))).toEqual([]);
  // A branch in a folder below its own: the next launch must not write through that folder.
  git(["-C", at("repo"), "update-ref", "refs/heads/holdfast/a-1/deep/x", tip()]);
  mkdirSync(at("theirs"));
  symlinkSync(at("theirs"), join(privateRefs(own).refs, "deep"));
  rmSync(join(privateObjects(own).objects, "pack"), { recursive: true });
  symlinkSync(at("theirs"), join(privateObjects(own).objects, "pack"));
  recordRepository(own, gitPathsOf(at("wt"))!, branch);
  expect(readdirSync(at("theirs"))).toEqual([]);
  expect(lstatSync(join(privateObjects(own).objects, "pack")).isDirectory()).toBe(true);
});

test("[CONTAIN-4] pack-refs outside keeps the folder that is mounted over, and a deleted session leaves none", async () => {
  gitMounts(at("wt"), branch, own);
  git(["-C", at("repo"), "pack-refs", "--all"]);
  const folder = dirname(at("repo/.git/refs/heads", branch));
  expect(existsSync(folder)).toBe(true);
  await forgetRepository(own, "a-1", run);
  expect(existsSync(dirname(folder))).toBe(false);
  expect(tip()).toMatch(/^[0-9a-f]{40}$/);
});

test("[CONTAIN-1] a pointer that leads to another worktree's directory is not believed", () => {
  git(["-C", at("repo"), "worktree", "add", "-q", "-b", "other", at("other")]);
  rmSync(at("wt/.git"));
  copyFileSync(at("other/.git"), at("wt/.git"));
  expect(() => gitPathsOf(at("wt"))).toThrow("does not name its own git directory");
});
