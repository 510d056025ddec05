/**
 * One worktree kept ready for the next session of a repository with a slow checkout. Claiming it is a rename. As long
 * as it has its marker no session has used it, so it may be moved to another commit.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeAtomically } from "../../base/durable-file.ts";
import { findDefault } from "./start.ts";
import { processesInside } from "./commands.ts";
import type { Context } from "../context.ts";
import { readFilters } from "../git/filters.ts";
import { askGit, checkoutDeadlineMs, git } from "../git/git.ts";
import { registeredAt } from "../find-worktree.ts";
import { isCheckedOut, readMarker, writeMarker } from "../record.ts";
import { reach } from "../../base/test-points.ts";
import { forgetMissing, reconnectMoved, releaseIndex } from "../git/registration.ts";
import {
  clearLeftover,
  inspectPath,
  openRepository,
  readRegistration,
  samePath,
  type Repository,
} from "../git/repository.ts";

/** From here on the wait is noticeable; below it a second tree on disk does not pay. */
export const slowCheckoutMs = 1000;

export async function prepareSpare(
  context: Context,
  path: string,
  defaultBranch: string,
  always: boolean,
): Promise<void> {
  const repository = await openRepository(path);
  const spare = sparePath(context, repository);
  if (context.busySpares.has(spare)) return;
  if (!always && (readCost(context, repository) ?? 0) < slowCheckoutMs) return;
  context.busySpares.add(spare);
  try {
    await prepare(context, repository, { path, defaultBranch, spare });
  } finally {
    context.busySpares.delete(spare);
  }
}

async function prepare(
  context: Context,
  repository: Repository,
  { path, defaultBranch, spare }: { path: string; defaultBranch: string; spare: string },
): Promise<void> {
  const { commonDir } = repository;
  const start = await findDefault(repository, path, defaultBranch);
  if (start.is !== "commit") return;
  const { commit } = start;
  // git refuses to move a worktree with submodules.
  if ((await askGit("read", ["cat-file", "-e", `${commit}:.gitmodules`], { gitDir: commonDir })) !== null) return;
  const found = inspectPath(repository, spare);
  if (found.is === "taken") {
    context.log.warn("spare worktree not usable", { path: spare, why: found.why });
    return;
  }
  if (found.is === "worktree") {
    const marker = readMarker(found.admin);
    if (marker?.is === "spare" && marker.commit === commit) return;
    if (processesInside(spare).length > 0) return;
    // Before the files change: a spare left between two commits by a crash must not appear ready.
    rmSync(join(found.admin, "holdfast.json"), { force: true });
    const registration = readRegistration(found.admin);
    if (registration?.locked === "initializing")
      await git("write", ["worktree", "unlock", spare], { gitDir: commonDir });
  } else {
    if (found.is === "missing") await forgetMissing(repository, found.registration.admin, spare);
    clearLeftover(spare);
    mkdirSync(join(context.worktrees, ".spare"), { recursive: true, mode: 0o700 });
    await git("write", ["worktree", "add", "--quiet", "--no-checkout", "--detach", spare, commit], {
      gitDir: commonDir,
    });
  }
  await reach("workspace.spare.added");
  const admin = registeredAt(repository, spare);
  if (admin === null) throw new Error(`git created no worktree at ${spare}`);
  releaseIndex(admin);
  const fresh = !isCheckedOut(admin);
  const filters = await readFilters({ gitDir: commonDir });
  const began = performance.now();
  const worktree = { path: spare, admin, commonDir, session: null, objects: null };
  const call = { worktree, config: filters.checkout, deadlineMs: checkoutDeadlineMs };
  await git("checkout", ["reset", "--hard", "--quiet", commit], call);
  if (fresh) rememberCost(context, repository, performance.now() - began);
  await reach("workspace.spare.checked-out");
  writeMarker(admin, { is: "spare", commit });
  await reach("workspace.spare.ready");
}

/** Moves the spare to `path` if one is ready. Its HEAD is still detached afterwards. */
export async function claimSpare(context: Context, repository: Repository, path: string): Promise<boolean> {
  const spare = sparePath(context, repository);
  if (context.busySpares.has(spare)) return false;
  const admin = existsSync(spare) ? registeredAt(repository, spare) : null;
  if (admin === null || readMarker(admin)?.is !== "spare") return false;
  const registration = readRegistration(admin);
  if (registration === null || !samePath(registration.path, spare) || existsSync(path)) return false;
  if (registration.locked !== null) return false;
  context.busySpares.add(spare);
  try {
    renameSync(spare, path);
    // After a crash before this, the next `create` finds the worktree and does the same.
    reconnectMoved(admin, path);
    return true;
  } catch (error) {
    context.log.warn("cannot claim spare worktree", { path: spare, error: String(error) });
    // A failed move leaves the spare where it was; create the worktree the ordinary way.
    if (existsSync(path)) throw error;
    return false;
  } finally {
    context.busySpares.delete(spare);
  }
}

export function rememberCost(context: Context, repository: Repository, checkoutMs: number): void {
  mkdirSync(join(context.worktrees, ".spare"), { recursive: true, mode: 0o700 });
  writeAtomically(costFile(context, repository), JSON.stringify({ checkoutMs: Math.round(checkoutMs) }));
}

function readCost(context: Context, repository: Repository): number | null {
  const read = readJson(costFile(context, repository));
  if (read.is !== "known") return null;
  const { checkoutMs } = read.value as { checkoutMs?: unknown };
  return typeof checkoutMs === "number" ? checkoutMs : null;
}

export function sparePath(context: Pick<Context, "worktrees">, repository: Repository): string {
  const digest = createHash("sha256").update(repository.commonDir).digest("hex").slice(0, 16);
  return join(context.worktrees, ".spare", digest);
}

const costFile = (context: Context, repository: Repository): string => `${sparePath(context, repository)}.json`;
