/** Undoes a `create` that failed: what is provably without work is removed by git itself, anything else is trashed. */
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkspacePlan } from "../ports/workspace.ts";
import { readCreation } from "./base.ts";
import { processesInside } from "./busy.ts";
import type { Context } from "./context.ts";
import { readFilters } from "./filters.ts";
import { askGit, checkoutDeadlineMs, runGit } from "./git.ts";
import { readHead } from "./head.ts";
import { isCheckedOut } from "./marker.ts";
import { dropUnregistered, finishPointer } from "./register.ts";
import { finishRegistration, forgetMissing, releaseIndex } from "./registration.ts";
import { clearLeftover, findRepository, holderOf, lookAt, type Repository } from "./repository.ts";
import { moveToTrash } from "./trash.ts";

export async function undoWorkspace(context: Context, plan: WorkspacePlan): Promise<void> {
  const repository = findRepository(plan.repository);
  if (repository === null) return;
  dropUnregistered(repository.commonDir, plan.path);
  finishPointer(repository.commonDir, plan.path);
  const place = lookAt(repository, plan.path);
  if (place.is === "missing") await forgetMissing(repository, place.registration.admin, plan.path);
  if (place.is === "free") clearLeftover(plan.path);
  if (place.is === "worktree") {
    await finishRegistration(repository, place.admin, plan.path);
    const removed = (await isWithoutWork(repository, plan, place.admin)) && (await removeClean(repository, plan));
    if (!removed) await moveToTrash(context, plan);
  }
  await removeOwnBranch(repository, plan);
}

/** git looks once more itself and refuses what is not clean. */
async function removeClean(repository: Repository, plan: WorkspacePlan): Promise<boolean> {
  const { none } = await readFilters({ gitDir: repository.commonDir });
  const args = ["worktree", "remove", plan.path];
  return (
    (await runGit(args, { gitDir: repository.commonDir, config: none, deadlineMs: checkoutDeadlineMs })).code === 0
  );
}

async function isWithoutWork(repository: Repository, plan: WorkspacePlan, admin: string): Promise<boolean> {
  if (processesInside(plan.path).length > 0) return false;
  const head = readHead(admin);
  if (head === null || (head.is === "branch" && head.branch !== plan.branch)) return false;
  const filters = await readFilters({ gitDir: repository.commonDir });
  const commit = await askGit(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { gitDir: admin });
  if (!isCheckedOut(admin) && commit !== null) {
    // A checkout that was cut off: finished first, so that its files can be told from anybody's work.
    releaseIndex(admin);
    const finish = { cwd: plan.path, config: filters.checkout, deadlineMs: checkoutDeadlineMs };
    if ((await runGit(["reset", "--hard", "--quiet"], finish)).code !== 0) return false;
  }
  const status = await runGit(
    ["status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames"],
    { cwd: plan.path, config: filters.none },
  );
  if (status.code !== 0) return false;
  const entries = status.stdout.split("\0").filter((entry) => entry !== "");
  return entries.every((entry) => entry.startsWith("!! ") && isOurs(repository, plan, entry.slice(3)));
}

/** A link that we made, or a copy that is still the same as what it was made from. */
function isOurs({ root }: Repository, plan: WorkspacePlan, name: string): boolean {
  const target = join(plan.path, name);
  const stat = lstatSync(target, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  if (stat.isSymbolicLink()) return plan.symlinks.includes(name);
  if (!stat.isFile() || root === null || !existsSync(join(root, name))) return false;
  return readFileSync(target).equals(readFileSync(join(root, name)));
}

/** Only a branch that this session made, that has no commit of its own, and that nobody has checked out. */
async function removeOwnBranch(repository: Repository, plan: WorkspacePlan): Promise<void> {
  const began = readCreation(repository.commonDir, plan);
  if (began === null) return;
  if ((await holderOf(repository, plan.branch, "")) !== null) return;
  // With the old value given, git deletes it only if it still is where it began.
  await runGit(["update-ref", "-d", `refs/heads/${plan.branch}`, began], { gitDir: repository.commonDir });
}
