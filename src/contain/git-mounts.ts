/**
 * The parts of a repository that a contained agent sees. Read: the entire common directory. Write: what a commit on the
 * session's own branch writes, and no file that decides which configuration git reads, because that decides what runs
 * outside. New objects and the branch itself go into the session's own folders, mounted over the shared ones: nothing
 * inside can destroy shared data, whatever environment git has. `take-over.ts` publishes them.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { HoldfastError } from "../contract/errors.ts";

export interface GitPaths {
  /** The worktree's own git directory, `<common>/worktrees/<id>`. */
  admin: string;
  common: string;
}

/** Path of the shared objects inside; the private folder's alternates name it. */
const sharedInside = "/run/holdfast/objects";
/** Files of a worktree's git directory that git or Holdfast trusts. */
const heldFiles = ["gitdir", "commondir", "config.worktree", "holdfast.json"];

/** Null if the worktree has no git directory elsewhere: everything is inside it. */
export function gitPathsOf(worktree: string): GitPaths | null {
  const link = join(worktree, ".git");
  if (lstatSync(link, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const named = /^gitdir: (.*)$/m.exec(readFileSync(link, "utf8"))?.[1];
  if (named === undefined) throw unusable(worktree, "its .git file names no directory");
  const admin = resolve(worktree, named);
  const back = textOf(join(admin, "gitdir"));
  const common = resolve(admin, textOf(join(admin, "commondir")) ?? "");
  // A pointer to another worktree's directory would make that one writable.
  if (back === null || resolve(admin, back) !== link || dirname(admin) !== join(common, "worktrees")) {
    throw unusable(worktree, "its .git file does not name its own git directory");
  }
  return { admin, common };
}

/** bwrap arguments, in order: later ones cover earlier ones. */
export function gitMounts(worktree: string, branch: string, own: string): Mount[] {
  const paths = gitPathsOf(worktree);
  if (paths === null) return [];
  const { admin, common } = paths;
  if (existsSync(join(common, "reftable"))) {
    throw unusable(worktree, "the repository stores its refs in a reftable, which cannot be shared per branch");
  }
  for (const name of heldFiles) {
    if (!existsSync(join(admin, name))) writeFileSync(join(admin, name), name === "holdfast.json" ? "null" : "");
  }
  const folders = branchFolders(common, branch);
  for (const folder of Object.values(folders)) {
    mkdirSync(folder, { recursive: true });
    // Otherwise `git pack-refs` outside removes the empty folder, and the mount with it.
    writeFileSync(join(folder, keepName), "");
  }
  const { refs, logs } = privateRefs(own);
  const { objects, info } = privateObjects(own);
  const shared = join(common, "objects");
  const others = alternatesOf(shared);
  writeFileSync(join(info, "alternates"), [sharedInside, ...others, ""].join("\n"));
  return [
    ["--ro-bind", common, common],
    ["--bind", admin, admin],
    ["--bind", refs, folders.refs],
    ["--bind", logs, folders.logs],
    ["--ro-bind", shared, sharedInside],
    ...others.map((path): Mount => ["--ro-bind-try", path, path]),
    ["--bind", objects, shared],
    ["--ro-bind", info, join(shared, "info")],
    ...heldFiles.map((name): Mount => ["--ro-bind", join(admin, name), join(admin, name)]),
    ["--ro-bind", join(worktree, ".git"), join(worktree, ".git")],
  ];
}

type Mount = [how: string, from: string, to: string];

export const keepName = ".keep";

/** Folders of its ref and its log: git renames a lock over a ref, so files cannot be mounted. */
export function branchFolders(common: string, branch: string): { refs: string; logs: string } {
  if (!branch.includes("/")) {
    throw new HoldfastError("invalid", `A contained session needs a branch in its own folder, not ${branch}.`, {
      hint: `Omit --branch, or choose one such as --branch ${branch}/work.`,
    });
  }
  const name = join("refs/heads", folderOf(branch));
  return { refs: join(common, name), logs: join(common, "logs", name) };
}

/** `holdfast/ma-1` for `holdfast/ma-1/work`. */
export function folderOf(branch: string): string {
  return branch.slice(0, branch.lastIndexOf("/"));
}

/** The session's own folders for its branches and their logs. */
export function privateRefs(own: string): { refs: string; logs: string } {
  return { refs: join(own, "refs"), logs: join(own, "logs") };
}

/** The session's own object folder. Its alternates are outside it: the agent can write to it. */
export function privateObjects(own: string): { objects: string; info: string } {
  return { objects: join(own, "objects"), info: join(own, "objects-info") };
}

/** Real folders, whatever the agent left there. */
export function makePrivate(own: string): void {
  const { objects, info } = privateObjects(own);
  const { refs, logs } = privateRefs(own);
  for (const folder of [objects, join(objects, "info"), join(objects, "pack"), info, refs, logs]) {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) continue;
    if (stat !== undefined) unlinkSync(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
}

/** Object folders that the repository borrows from, recursively. */
function alternatesOf(objects: string, depth = 5): string[] {
  const text = textOf(join(objects, "info/alternates")) ?? "";
  const named = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const found = named
    .map((line) => (isAbsolute(line) ? line : resolve(objects, line)))
    .filter((path) => existsSync(path));
  return depth === 0 ? [] : [...new Set(found.flatMap((path) => [path, ...alternatesOf(path, depth - 1)]))];
}

/** Without its last newline; null if it cannot be read. */
export function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trimEnd();
  } catch {
    return null;
  }
}

function unusable(worktree: string, why: string): HoldfastError {
  return new HoldfastError("launch-failed", `${worktree} cannot be contained: ${why}.`, {
    hint: "Start the session without containment, or create another one.",
  });
}
