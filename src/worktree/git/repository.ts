/** A repository and its registered worktrees, read from git's own files. */
import { existsSync, readdirSync, realpathSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { HoldfastError } from "../../contract/errors.ts";
import { askGit } from "./git.ts";
import { gitDirOf, readHead, type Head, readLine } from "./git-files.ts";

export interface Repository {
  /** The work tree for links and copies; null for a bare repository. */
  root: string | null;
  commonDir: string;
}

/** HEAD and lock are read on demand: long lists mostly need only the paths. */
export interface Registration {
  readonly admin: string;
  readonly path: string;
  readonly head: Head | null;
  readonly locked: string | null;
}

export async function openRepository(path: string): Promise<Repository> {
  const found = findRepository(path) ?? (await askRepository(path));
  if (found !== null) return found;
  throw new HoldfastError("preflight-failed", `${path} is not a git repository.`, {
    hint: "Run `git init` there, or fix the project's path.",
  });
}

export function findRepository(path: string): Repository | null {
  const gitDir = gitDirOf(path);
  if (gitDir !== null && existsSync(join(gitDir, "HEAD"))) {
    return { root: realpathSync(path), commonDir: realpathSync(commonDirOf(gitDir)) };
  }
  const isBare = ["HEAD", "objects", "refs"].every((name) => existsSync(join(path, name)));
  return isBare ? { root: null, commonDir: realpathSync(path) } : null;
}

/** For a directory below the top of a work tree. */
async function askRepository(path: string): Promise<Repository | null> {
  if (!existsSync(path)) return null;
  const top = await askGit("read", ["rev-parse", "--show-toplevel"], { discover: path });
  return top === null || top === "" ? null : findRepository(top);
}

export function commonDirOf(gitDir: string): string {
  const named = readLine(join(gitDir, "commondir"));
  return named === null ? gitDir : resolve(gitDir, named);
}

/** All registered worktrees, including missing ones. */
export function readRegistrations(commonDir: string): Registration[] {
  const directory = join(commonDir, "worktrees");
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((name) => readRegistration(join(directory, name)) ?? []);
}

export function readRegistration(admin: string): Registration | null {
  const named = readLine(join(admin, "gitdir"));
  if (named === null) return null;
  return {
    admin,
    path: dirname(resolve(admin, named)),
    get head() {
      return readHead(admin);
    },
    get locked() {
      return readLine(join(admin, "locked"));
    },
  };
}

export type PathState =
  | { is: "free" }
  /** git has a registration for the path, but no worktree exists there. */
  | { is: "missing"; registration: Registration }
  | { is: "worktree"; admin: string }
  | { is: "taken"; why: string };

/** The state of a path where a worktree of this repository should be. */
export function inspectPath(repository: Repository, path: string): PathState {
  const gitDir = gitDirOf(path);
  if (gitDir !== null) {
    const worktrees = join(repository.commonDir, "worktrees");
    const inside = samePath(worktrees, dirname(gitDir));
    const admin = join(worktrees, basename(gitDir));
    if (inside && existsSync(admin)) return { is: "worktree", admin };
    if (!inside || !holdsOnly(path, ".git")) return { is: "taken", why: "it belongs to another repository" };
  } else if (existsSync(path) && !holdsOnly(path, null)) {
    return { is: "taken", why: "it contains files that are not a worktree of this repository" };
  }
  const isThere = sameAs(path);
  const registration = readRegistrations(repository.commonDir).find((one) => isThere(one.path));
  return registration === undefined ? { is: "free" } : { is: "missing", registration };
}

/** Removes what an interrupted `worktree add` left: an empty directory, or a dangling pointer. */
export function clearLeftover(path: string): void {
  if (!existsSync(path)) return;
  const pointer = statSync(join(path, ".git"), { throwIfNoEntry: false });
  if (pointer?.isFile() === true && holdsOnly(path, ".git")) unlinkSync(join(path, ".git"));
  if (holdsOnly(path, null)) rmdirSync(path);
}

/** The worktree that has a branch checked out or is rebasing it; null if missing. */
export async function holderOf(repository: Repository, branch: string, except: string): Promise<string | null> {
  const isExcepted = sameAs(except);
  for (const one of readRegistrations(repository.commonDir)) {
    if (holds(one.admin, one.head, branch) && !isExcepted(one.path)) return one.path;
  }
  const { commonDir } = repository;
  if (!holds(commonDir, readHead(commonDir), branch)) return null;
  const isBare = (await askGit("read", ["rev-parse", "--is-bare-repository"], { gitDir: commonDir })) === "true";
  if (isBare) return null;
  return basename(commonDir) === ".git" ? dirname(commonDir) : commonDir;
}

function holds(gitDir: string, head: Head | null, branch: string): boolean {
  if (head?.is === "branch") return head.branch === branch;
  const ref = `refs/heads/${branch}`;
  return ["rebase-merge", "rebase-apply"].some((state) => readLine(join(gitDir, state, "head-name")) === ref);
}

/** Whether `path` is at or below `directory`, after resolving symbolic links in the existing parts. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(realOrNearest(directory), realOrNearest(path));
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}

export function samePath(one: string, other: string): boolean {
  return sameAs(one)(other);
}

/** Compares many paths with one. */
function sameAs(path: string): (other: string) => boolean {
  let real: string | undefined;
  return (other) => other === path || realOrNearest(other) === (real ??= realOrNearest(path));
}

function holdsOnly(directory: string, name: string | null): boolean {
  if (!statSync(directory).isDirectory()) return false;
  return readdirSync(directory).every((entry) => entry === name);
}

function realOrNearest(path: string): string {
  try {
    // Native: ten times faster, and lists of worktrees compare many paths.
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOrNearest(parent), basename(path));
  }
}
