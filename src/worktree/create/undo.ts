/** Undoes a failed `create`: git removes what provably contains no work; anything else moves to the trash. */
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorktreePlan } from "../../ports/worktree.ts";
import { readCreation } from "./start.ts";
import { processesInside } from "./commands.ts";
import type { Context } from "../context.ts";
import { readFilters } from "../git/filters.ts";
import { checkoutDeadlineMs, commitOf, runGit } from "../git/git.ts";
import { readHead } from "../git/git-files.ts";
import { isCheckedOut, forgetWorktree, type Worktree } from "../record.ts";
import {
  dropUnregistered,
  finishPointer,
  finishRegistration,
  forgetMissing,
  releaseIndex,
} from "../git/registration.ts";
import { clearLeftover, findRepository, holderOf, inspectPath, type Repository } from "../git/repository.ts";
import { moveToTrash } from "../trash/trash.ts";

export async function undoCreate(context: Context, plan: WorktreePlan): Promise<void> {
  const repository = findRepository(plan.repository);
  if (repository === null) return;
  dropUnregistered(repository.commonDir, plan.path);
  finishPointer(repository.commonDir, plan.path);
  const found = inspectPath(repository, plan.path);
  if (found.is === "missing") await forgetMissing(repository, found.registration.admin, plan.path);
  if (found.is === "free") clearLeftover(plan.path);
  if (found.is === "worktree") {
    await finishRegistration(repository, found.admin, plan.path);
    const { path, session, objects = null } = plan;
    const worktree = { path, session, admin: found.admin, commonDir: repository.commonDir, objects };
    const removed = (await isWithoutWork(repository, plan, worktree)) && (await removeClean(repository, plan));
    if (!removed) await moveToTrash(context, plan);
  }
  forgetWorktree(context.worktrees, plan.path);
  await removeOwnBranch(repository, plan);
}

/** git checks again and refuses if it is not clean. */
async function removeClean(repository: Repository, plan: WorktreePlan): Promise<boolean> {
  const { none } = await readFilters({ gitDir: repository.commonDir });
  const args = ["worktree", "remove", plan.path];
  const call = { gitDir: repository.commonDir, config: none, deadlineMs: checkoutDeadlineMs };
  return (await runGit("write", args, call)).code === 0;
}

async function isWithoutWork(repository: Repository, plan: WorktreePlan, worktree: Worktree): Promise<boolean> {
  const { admin } = worktree;
  if (processesInside(plan.path).length > 0) return false;
  const head = readHead(admin);
  if (head === null || (head.is === "branch" && head.branch !== plan.branch)) return false;
  const filters = await readFilters({ gitDir: repository.commonDir });
  const commit = await commitOf("HEAD", { admin: worktree });
  if (!isCheckedOut(admin) && commit !== null) {
    // Finish an interrupted checkout first, to distinguish its files from work.
    releaseIndex(admin);
    const finish = { worktree, config: filters.checkout, deadlineMs: checkoutDeadlineMs };
    if ((await runGit("checkout", ["reset", "--hard", "--quiet"], finish)).code !== 0) return false;
  }
  const shown = ["--untracked-files=all", "--ignored=matching", "--no-renames", "--ignore-submodules=dirty"];
  const args = ["status", "--porcelain", "-z", ...shown];
  const status = await runGit("read", args, { worktree, config: filters.none });
  if (status.code !== 0) return false;
  const entries = status.stdout.split("\0").filter((entry) => entry !== "");
  return entries.every((entry) => entry.startsWith("!! ") && isOurs(repository, plan, entry.slice(3)));
}

/** Our own link, or an unchanged copy. */
function isOurs({ root }: Repository, plan: WorktreePlan, name: string): boolean {
  const target = join(plan.path, name);
  const stat = lstatSync(target, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  if (stat.isSymbolicLink()) return plan.symlinks.includes(name);
  if (!stat.isFile() || root === null || !existsSync(join(root, name))) return false;
  return readFileSync(target).equals(readFileSync(join(root, name)));
}

/** Only a branch that this session created, without its own commits, and not checked out anywhere. */
async function removeOwnBranch(repository: Repository, plan: WorktreePlan): Promise<void> {
  const began = readCreation(repository.commonDir, plan);
  if (began === null) return;
  if ((await holderOf(repository, plan.branch, "")) !== null) return;
  // With the old value, git deletes it only if it has not moved.
  await runGit("write", ["update-ref", "-d", `refs/heads/${plan.branch}`, began], { gitDir: repository.commonDir });
}
