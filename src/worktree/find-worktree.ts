/** Finds the worktree at a path by our own record, and reports what contradicts that record. */
import { existsSync, lstatSync, realpathSync, unlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { HoldfastError } from "../contract/errors.ts";
import type { Context } from "./context.ts";
import { gitDirOf, readLine } from "./git/git-files.ts";
import { isAdminOf, readWorktree, writeWorktree, type Worktree } from "./record.ts";
import { writeFor } from "./git/registration.ts";
import { findRepository, readRegistrations, samePath, type Repository } from "./git/repository.ts";
import { readRecord, type TrashRecord } from "./trash/records.ts";

/** Null if neither a record nor the repository's own list contains the path. */
export function findWorktree(context: Context, path: string): Worktree | null {
  const worktree = recorded(context, path);
  if (worktree === null) return null;
  const repaired = repairRegistration(worktree);
  if (repaired !== null) {
    context.log.warn("another program changed git's files about a worktree", { path, what: repaired });
    context.findings.set(worktree.admin, repaired);
  }
  return worktree;
}

function recorded(context: Context, path: string): Worktree | null {
  const known = readWorktree(context.worktrees, path);
  if (known !== null) return known;
  const trashed = /^(.*)\/tree$/.exec(path)?.[1];
  if (trashed !== undefined && resolve(trashed, "..") === resolve(context.trash)) {
    const record = readRecord(trashed);
    return record === null ? null : worktreeInTrash(record, path);
  }
  const root = context.repositoryOf(path);
  return root === null ? null : deriveWorktree(context, root, path);
}

/**
 * git finds refs by `commondir`, whatever the environment, and drops a worktree with an invalid `gitdir`: makes
 * both match our record again. Returns what was wrong, as a sentence.
 */
function repairRegistration({ path, admin, commonDir }: Worktree): string | null {
  if (!existsSync(admin)) return null;
  for (const log of [join(admin, "logs"), join(admin, "logs/HEAD")]) {
    // git would append to the link's target.
    if (lstatSync(log, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    unlinkSync(log);
    return `${log} was a symbolic link and was removed.`;
  }
  const common = readLine(join(admin, "commondir"));
  if (common === null || !samePath(resolve(admin, common), commonDir)) {
    writeFor(join(admin, "commondir"), "../..\n");
    return `${admin}/commondir named ${JSON.stringify(common)} instead of ${commonDir}, and was repaired.`;
  }
  const back = readLine(join(admin, "gitdir"));
  // A user may have moved the worktree away.
  if (!existsSync(path) || (back !== null && samePath(resolve(admin, back), join(path, ".git")))) return null;
  writeFor(join(admin, "gitdir"), `${join(realpathSync(path), ".git")}\n`);
  return `${admin}/gitdir named ${JSON.stringify(back)} instead of ${path}/.git, and was repaired.`;
}

/** Like `findWorktree`, but throws unless git can work in it. */
export function worktreeAt(context: Context, path: string): Worktree {
  const worktree = findWorktree(context, path);
  if (worktree !== null && existsSync(join(worktree.admin, "HEAD"))) return worktree;
  throw new HoldfastError("not-found", `${path} is not a worktree.`);
}

/**
 * For a worktree created by an earlier build: the repository's own list names it. The worktree's `.git` is not
 * consulted.
 */
export function deriveWorktree(context: Context, root: string, path: string): Worktree | null {
  const repository = findRepository(root);
  const admin = repository === null ? null : registeredAt(repository, path);
  if (repository === null || admin === null) return null;
  const worktree = { path, admin, commonDir: repository.commonDir, session: null, objects: null };
  writeWorktree(context.worktrees, worktree);
  return worktree;
}

/** The git directory of the worktree registered at a path. */
export function registeredAt({ commonDir }: Repository, path: string): string | null {
  return readRegistrations(commonDir).find((one) => samePath(one.path, path))?.admin ?? null;
}

/** Null without one, or if it does not belong to the repository: earlier builds trusted `.git`. */
export function worktreeInTrash(record: TrashRecord, tree: string): Worktree | null {
  const { admin, commonDir, session, objects = null } = record;
  if (admin === null || commonDir === null || !isAdminOf(commonDir, admin)) return null;
  const repository = findRepository(record.repository);
  if (repository !== null && !samePath(repository.commonDir, commonDir)) return null;
  return { path: tree, admin, commonDir, session, objects };
}

/** What contradicts, or contradicted, our record, as a sentence; null if nothing does. */
export function contradiction({ findings }: Pick<Context, "findings">, { path, admin }: Worktree): string | null {
  const pointer = lstatSync(join(path, ".git"), { throwIfNoEntry: false });
  if (pointer === undefined) return `${path}/.git is gone.`;
  if (!pointer.isFile()) return `${path}/.git is not the file that git wrote.`;
  const named = gitDirOf(path);
  if (named !== null && samePath(named, admin)) return findings.get(admin) ?? null;
  return `${path}/.git names ${named === null ? "no repository" : JSON.stringify(named)} instead of ${admin}.`;
}
