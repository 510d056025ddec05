/**
 * A worktree that was missing when its session was killed. Its registration is dropped to free its branch. If the
 * directory returns (moved back by hand, or on a disk that was not mounted), it is registered again.
 */
import { existsSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { WorktreeReady } from "../../ports/worktree.ts";
import type { Context } from "../context.ts";
import { commitOf, git, runGit } from "../git/git.ts";
import { gitDirOf, readHead } from "../git/git-files.ts";
import { readMarker, writeMarker, readWorktree, writeWorktree } from "../record.ts";
import { finishPointer, finishRegistration, forgetMissing, writeFor } from "../git/registration.ts";
import {
  findRepository,
  holderOf,
  inspectPath,
  readRegistrations,
  samePath,
  type Repository,
} from "../git/repository.ts";

interface Own {
  session: string;
  repository: string;
  path: string;
}

/**
 * Removes the registration of a deleted worktree, unless it is locked, belongs to another session, or has commits or
 * staged files that exist nowhere else.
 */
export async function forgetDeleted({ session, repository: root, path }: Own): Promise<void> {
  const repository = findRepository(root);
  // Without its parent directory, the disk may be missing rather than the worktree.
  if (repository === null || !existsSync(dirname(path))) return;
  const found = readRegistrations(repository.commonDir).find((one) => samePath(one.path, path));
  if (found === undefined || (found.locked !== null && found.locked !== "initializing")) return;
  const marker = readMarker(found.admin);
  if (marker !== null && (marker.is !== "ready" || marker.session !== session)) return;
  if (found.head?.is !== "branch") return;
  const staged = await runGit("read", ["diff-index", "--cached", "--quiet", "--no-ext-diff", "HEAD"], {
    gitDir: found.admin,
    env: { GIT_COMMON_DIR: repository.commonDir },
  });
  if (staged.code === 0) await forgetMissing(repository, found.admin, path);
}

/** Whether the session's worktree is at its path again; restores git's files about it first. */
export async function findReturned(context: Context, own: Own & WorktreeReady): Promise<boolean> {
  const { session, path } = own;
  const repository = findRepository(own.repository);
  if (repository === null || lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  finishPointer(repository.commonDir, path);
  const named = gitDirOf(path);
  if (named === null || !samePath(dirname(named), join(repository.commonDir, "worktrees"))) return false;
  const admin = join(repository.commonDir, "worktrees", basename(named));
  const recorded = readWorktree(context.worktrees, path);
  if (recorded !== null && !samePath(recorded.admin, admin)) return false;
  if (!existsSync(admin) && !(await registerAgain(repository, admin, own))) return false;
  const found = inspectPath(repository, path);
  const marker = readMarker(admin);
  if (found.is !== "worktree" || (marker !== null && (marker.is !== "ready" || marker.session !== session)))
    return false;
  await finishRegistration(repository, admin, path);
  const { commonDir } = repository;
  writeWorktree(context.worktrees, { objects: null, ...recorded, path, admin, commonDir, session });
  return true;
}

/** Files are unchanged; the index is read from the branch, so staged changes appear as unstaged. */
async function registerAgain(repository: Repository, admin: string, own: Own & WorktreeReady): Promise<boolean> {
  const { commonDir } = repository;
  const { path, branch, base, branchCreated } = own;
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(basename(admin))) return false;
  const tip = await commitOf(`refs/heads/${branch}`, { gitDir: commonDir });
  if (tip === null) return false;
  const isFree = (await holderOf(repository, branch, path)) === null;
  mkdirSync(admin, { recursive: true });
  writeFor(join(admin, "commondir"), "../..\n");
  writeFor(join(admin, "HEAD"), isFree ? `ref: refs/heads/${branch}\n` : `${tip}\n`);
  // Last: without it this is not a registration, and the next call writes everything again.
  writeFor(join(admin, "gitdir"), `${join(realpathSync(path), ".git")}\n`);
  if (readHead(admin) === null) return false;
  // Not `reset`, which also compares the files and runs filters for that.
  await git("write", ["read-tree", "HEAD"], { admin: { path, admin, commonDir, session: own.session, objects: null } });
  writeMarker(admin, { is: "ready", session: own.session, workspace: { path, branch, base, branchCreated } });
  return true;
}
