/** What we read from git's files, against what git itself wrote; and a name that is no file at all. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadConfig } from "./load.ts";
import { defaultBranchOf, remoteTrackerOf, repositoryAt, type Repository } from "./repository.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-git-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const env = {
  PATH: process.env["PATH"] ?? "",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@localhost",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@localhost",
};
const git = (...args: string[]): void => void execFileSync("git", ["-C", root, ...args], { env, stdio: "pipe" });
const repository = (at: string): Repository => {
  const found = repositoryAt(join(root, at));
  if (found.is !== "repository") throw new Error(JSON.stringify(found));
  return found.repository;
};

test("[CONFIG-9] real repositories: plain, packed, cloned, bare and a linked worktree", () => {
  git("init", "-q", "-b", "trunk", "app");
  expect(defaultBranchOf(repository("app"))).toBe("trunk");
  git("-C", "app", "commit", "-q", "--allow-empty", "-m", "first");
  git("-C", "app", "branch", "master");
  git("-C", "app", "pack-refs", "--all");
  expect(defaultBranchOf(repository("app"))).toBe("master");

  git("clone", "-q", "app", "clone");
  git("-C", "clone", "checkout", "-q", "-b", "feature");
  expect(defaultBranchOf(repository("clone"))).toBe("trunk");
  git("-C", "clone", "remote", "set-url", "origin", "git@github.com:owner/app.git");
  expect(remoteTrackerOf(repository("clone"))).toEqual({ type: "github", repo: "owner/app", baseUrl: null });

  git("-C", "clone", "worktree", "add", "-q", "-b", "side", join(root, "side"));
  expect(repository("side").commonDirectory).toBe(join(root, "clone/.git"));
  expect(defaultBranchOf(repository("side"))).toBe("trunk");

  git("clone", "-q", "--bare", "app", "bare.git");
  expect(repository("bare.git").bare).toBe(true);
  expect(defaultBranchOf(repository("bare.git"))).toBe("master");
});

test("[CONFIG-6] a FIFO called holdfast.yaml is refused instead of waited for", async () => {
  const file = join(root, "holdfast.yaml");
  execFileSync("mkfifo", [file]);
  expect(await loadConfig(file)).toMatchObject({ ok: false, problems: [{ message: "is not a file" }] });
});
