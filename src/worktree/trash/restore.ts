/** Moves a worktree from the trash back to its original path, by which agents find their transcripts. */
import { existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError, messageOf } from "../../contract/errors.ts";
import { isAncestor } from "../create/start.ts";
import type { Context } from "../context.ts";
import { commitOf, git } from "../git/git.ts";
import { worktreeInTrash } from "../find-worktree.ts";
import { branchIn, gitDirOf, readHead } from "../git/git-files.ts";
import { reach } from "../../base/test-points.ts";
import { writeWorktree, type Worktree } from "../record.ts";
import { reconnectMoved } from "../git/registration.ts";
import { holderOf, samePath } from "../git/repository.ts";
import { snapshotBranch } from "./snapshot.ts";
import { unlock, removeRef } from "./trash.ts";
import {
  checkId,
  hasTree,
  hideRestored,
  noEntry,
  readRecord,
  readRestored,
  storeOf,
  treeOf,
  type TrashRecord,
} from "./records.ts";

export interface Restored {
  path: string;
  branch: string | null;
  notes: string[];
}

export async function restoreFromTrash(context: Context, id: string): Promise<Restored> {
  checkId(id);
  const record = readRecord(join(context.trash, id));
  if (record === null) {
    const before = readRestored(context.trash, id);
    if (before === null || !existsSync(before.path)) throw noEntry(id);
    const there = worktreeInTrash(before, before.path);
    return { path: before.path, branch: there === null ? null : branchIn(there.admin), notes: [] };
  }
  const worktree = worktreeInTrash(record, record.path);
  if (worktree !== null) writeWorktree(context.worktrees, worktree);
  moveBack(context, record, worktree);
  await reach("workspace.restore.moved");
  const notes = await reconnect(record, worktree);
  unlock(record);
  await reach("workspace.restore.unlocked");
  await removeRef(record);
  await reach("workspace.restore.unpinned");
  hideRestored(context.trash, record.id);
  return { path: record.path, branch: worktree === null ? null : branchIn(worktree.admin), notes };
}

function moveBack(context: Context, record: TrashRecord, worktree: Worktree | null): void {
  const { path, id } = record;
  const occupied = existsSync(path) && readdirSync(path).length > 0;
  if (!hasTree(context.trash, id)) {
    // An earlier call got this far, or the move to the trash never happened.
    if (occupied && (worktree === null || samePath(gitDirOf(path) ?? "", worktree.admin))) return;
    throw new HoldfastError("not-found", `The files of trash entry ${id} no longer exist.`, {
      hint: whatElse(context, record),
    });
  }
  if (occupied) {
    throw new HoldfastError("conflict", `Cannot restore the worktree: ${path} already exists and is not empty.`, {
      hint: "Move its contents away and try again.",
    });
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    renameSync(treeOf(context.trash, id), path);
  } catch (error) {
    throw new HoldfastError("storage", `Cannot restore ${path}: ${messageOf(error)}.`, {
      hint: `The files are still in ${treeOf(context.trash, id)}.`,
      cause: error,
    });
  }
}

function whatElse({ trash }: Context, { id, ref, snapshot }: TrashRecord): string {
  if (existsSync(storeOf(trash, id))) {
    return `A snapshot is kept: git --git-dir=${storeOf(trash, id)} archive ${snapshotBranch} | tar x`;
  }
  if (ref === null) return "Nothing else was kept.";
  return `${snapshot === null ? "Its commits are" : "A snapshot is"} kept in its repository: ${ref}`;
}

async function reconnect(record: TrashRecord, worktree: Worktree | null): Promise<string[]> {
  if (worktree === null) return [];
  if (!existsSync(worktree.admin)) return ["git no longer has this worktree registered; its files are complete."];
  reconnectMoved(worktree.admin, worktree.path);
  await reach("workspace.restore.repaired");
  const notes = await attach(record, worktree);
  await reach("workspace.restore.attached");
  return notes;
}

/** HEAD returns to its branch only if the files still mean the same. */
async function attach(record: TrashRecord, worktree: Worktree): Promise<string[]> {
  const { admin, commonDir } = worktree;
  const { branch, head, path } = record;
  if (branch === null) return [];
  const now = readHead(admin);
  if (now?.is === "branch" && now.branch === branch) return [];
  const holder = await holderOf({ root: null, commonDir }, branch, path);
  if (holder !== null) return [`Branch ${branch} is now checked out in ${holder}: HEAD is detached.`];
  const ref = `refs/heads/${branch}`;
  const tip = await commitOf(ref, { admin: worktree });
  const notes: string[] = [];
  if (head === null) {
    if (tip !== null) return [`Branch ${branch} was re-created elsewhere; the worktree is not on a branch.`];
  } else if (tip !== head) {
    // Deleted, or reset to an older commit: moving it forward to this worktree's commit loses nothing.
    if (tip !== null && !(await isAncestor({ admin: worktree }, tip, head))) {
      return [`Branch ${branch} has moved to ${tip.slice(0, 8)}: HEAD is detached at ${head.slice(0, 8)}.`];
    }
    const from = tip ?? "0".repeat(head.length);
    await git("write", ["update-ref", "--create-reflog", "-m", "holdfast: restored", ref, head, from], {
      admin: worktree,
    });
    notes.push(`Branch ${branch} was ${tip === null ? "deleted" : "behind"}: it is at ${head.slice(0, 8)} again.`);
  }
  await git("write", ["symbolic-ref", "-m", "holdfast: restored", "HEAD", ref], { admin: worktree });
  return notes;
}
