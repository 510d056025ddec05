import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  parseRemotes,
  trackerOf,
  defaultBranchOf,
  remoteTrackerOf,
  repositoryAt,
  type Repository,
} from "./repository.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-repo-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const makeGit = (at: string, head = "ref: refs/heads/main\n"): void => {
  mkdirSync(join(root, at, "objects"), { recursive: true });
  mkdirSync(join(root, at, "refs"), { recursive: true });
  put(join(at, "HEAD"), head);
};
const repository = (at = ""): Repository => {
  const found = repositoryAt(join(root, at));
  if (found.is !== "repository") throw new Error(JSON.stringify(found));
  return found.repository;
};

describe("repositoryAt", () => {
  test("[CONFIG-8] a directory with .git, a bare one and a linked worktree are repositories", () => {
    makeGit("plain/.git");
    makeGit("bare.git");
    put("plain/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
    put("plain/.git/worktrees/w/commondir", "../..\n");
    put("w/.git", "gitdir: ../plain/.git/worktrees/w\n");
    expect(repository("plain")).toMatchObject({ bare: false, gitDirectory: join(root, "plain/.git") });
    expect(repository("bare.git")).toMatchObject({ bare: true, commonDirectory: join(root, "bare.git") });
    expect(repository("w")).toMatchObject({ commonDirectory: join(root, "plain/.git"), path: join(root, "w") });
  });

  test.each([
    ["gone", "there is no such directory"],
    ["file", "it is not a directory"],
    ["empty", "its .git is damaged or empty"],
    ["words", "its .git file does not name a git directory"],
    ["none", "it has no .git"],
  ])("[CONFIG-8] %s is refused: %s", (name, why) => {
    put("file", "");
    mkdirSync(join(root, "empty/.git"), { recursive: true });
    put("words/.git", "hello\n");
    mkdirSync(join(root, "none"));
    expect(repositoryAt(join(root, name))).toEqual({ is: "not", why });
  });

  test("[CONFIG-8] a .git file that names nothing is refused with the name", () => {
    put("lost/.git", "gitdir: ../away\n");
    const why = `its .git file names ${join(root, "away")}, which is not a git directory`;
    expect(repositoryAt(join(root, "lost"))).toEqual({ is: "not", why });
  });

  test("[CONFIG-8] a directory inside a repository names its root", () => {
    makeGit("app/.git");
    mkdirSync(join(root, "app/src"));
    expect(repositoryAt(join(root, "app/src"))).toEqual({ is: "inside", root: join(root, "app") });
  });
});

describe("defaultBranchOf", () => {
  test("[CONFIG-9] the remote's default branch comes first", () => {
    makeGit(".git", "ref: refs/heads/feature\n");
    put(".git/config", '[remote "origin"]\n\turl = x\n');
    put(".git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/release/2\n");
    put(".git/refs/heads/main", "0\n");
    expect(defaultBranchOf(repository())).toBe("release/2");
  });

  test("[CONFIG-9] then main or master, loose or packed, where only one is there", () => {
    makeGit(".git", "ref: refs/heads/feature\n");
    put(".git/packed-refs", "# pack-refs with: peeled\n1111111111111111111111111111111111111111 refs/heads/master\n");
    expect(defaultBranchOf(repository())).toBe("master");
    put(".git/refs/heads/main", "0\n");
    expect(defaultBranchOf(repository())).toBe("feature");
  });

  test("[CONFIG-9] then the checked-out branch, also before the first commit", () => {
    makeGit(".git", "ref: refs/heads/trunk\n");
    expect(defaultBranchOf(repository())).toBe("trunk");
  });

  test("[CONFIG-9] a detached HEAD and the reftable format yield none", () => {
    makeGit("a/.git", "1111111111111111111111111111111111111111\n");
    makeGit("b/.git", "ref: refs/heads/.invalid\n");
    expect(defaultBranchOf(repository("a"))).toBeNull();
    expect(defaultBranchOf(repository("b"))).toBeNull();
  });

  test("[CONFIG-9] a linked worktree answers as its main one", () => {
    makeGit("plain/.git", "ref: refs/heads/trunk\n");
    put("plain/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
    put("plain/.git/worktrees/w/commondir", "../..\n");
    put("w/.git", "gitdir: ../plain/.git/worktrees/w\n");
    expect(defaultBranchOf(repository("w"))).toBe("trunk");
  });
});

describe("tracker", () => {
  test.each([
    ["https://github.com/owner/app.git", "github", "owner/app", null],
    ["git@github.com:owner/app.git", "github", "owner/app", null],
    ["ssh://git@ssh.github.com:443/owner/app", "github", "owner/app", null],
    ["https://user:secret@gitlab.com/group/sub/app.git", "gitlab", "group/sub/app", null],
    ["git@gitlab.localhost:group/app", "gitlab", "group/app", "https://gitlab.localhost"],
    ["https://github.localhost/owner/app/", "github", "owner/app", "https://github.localhost/api/v3"],
  ])("[CONFIG-10] %s belongs to %s %s", (url, type, repo, baseUrl) => {
    expect(trackerOf(url)).toEqual({ type, repo, baseUrl });
  });

  test.each([
    "../other",
    "/srv/app.git",
    "git@work:owner/app",
    "https://github.com/owner",
    "file:///github.com/a/b",
    "",
  ])("[CONFIG-10] %j belongs to none", (url) => {
    expect(trackerOf(url)).toBeNull();
  });

  test("[CONFIG-10] origin comes before others, and only remotes count", () => {
    makeGit(".git");
    const text = `[core]\n\tbare = false\n[branch "main"]\n\turl = no\n[remote "fork"]\n\turl = git@github.com:me/app\n[remote "origin"]\n\tfetch = x\n\tURL = "https://github.com/owner/app" ; why\n\turl = second\n`;
    put(".git/config", text);
    expect(parseRemotes(text)).toEqual([
      { name: "fork", url: "git@github.com:me/app" },
      { name: "origin", url: "https://github.com/owner/app" },
    ]);
    expect(remoteTrackerOf(repository())).toMatchObject({ repo: "owner/app" });
  });
});
