import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readPlainStart } from "../create/start.ts";
import { commit, makeWorld, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

test("[WORKTREE-3] the plain case is read from files, loose or packed; whatever is not plain is left to git", () => {
  world = makeWorld();
  const { repository } = world;
  const gitDir = join(repository, ".git");
  const start = (): string | null => readPlainStart(gitDir, "ab-1", "main");
  const tip = (): string => sh(repository, "rev-parse", "main").trim();
  const first = tip();
  expect(start()).toBe(first);
  sh(repository, "pack-refs", "--all");
  expect(start()).toBe(first);
  // Loose beats packed.
  commit(repository, { "file.txt": "two\n" });
  expect([start(), tip() === first]).toEqual([tip(), false]);
  expect(readPlainStart(gitDir, "ab-1", "develop")).toBeNull();

  // The branch is there: loose, packed, pushed.
  sh(repository, "branch", "ab-1");
  expect(start()).toBeNull();
  sh(repository, "pack-refs", "--all");
  expect(start()).toBeNull();
  sh(repository, "branch", "--quiet", "-D", "ab-1");
  expect(start()).toBe(tip());
  sh(repository, "update-ref", "refs/remotes/origin/ab-1", "main");
  expect(start()).toBeNull();
  sh(repository, "update-ref", "-d", "refs/remotes/origin/ab-1");

  // origin's default branch: the same, then another.
  sh(repository, "update-ref", "refs/remotes/origin/main", "main");
  expect(start()).toBe(tip());
  sh(repository, "update-ref", "refs/remotes/origin/main", first);
  expect(start()).toBeNull();
  sh(repository, "update-ref", "refs/remotes/origin/main", "main");
  // Another remote, whose part only the configuration tells.
  sh(repository, "update-ref", "refs/remotes/upstream/main", "main");
  expect(start()).toBeNull();
  sh(repository, "pack-refs", "--all");
  expect(start()).toBeNull();
  sh(repository, "update-ref", "-d", "refs/remotes/upstream/main");

  // A symbolic ref, and a file that is no ref at all.
  sh(repository, "symbolic-ref", "refs/heads/trunk", "refs/heads/main");
  expect(readPlainStart(gitDir, "ab-1", "trunk")).toBeNull();
  put(gitDir, { "refs/heads/torn": "1234\n" });
  expect(readPlainStart(gitDir, "ab-1", "torn")).toBeNull();
});
