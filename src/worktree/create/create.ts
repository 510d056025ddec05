/**
 * Creates a session's worktree in small steps: branch, registration, checkout, submodules, links and copies, commands,
 * marker. Each step checks first what is done, so a second call finishes an interrupted one. Nothing is forced, and
 * nothing with content is removed.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError } from "../../contract/errors.ts";
import type { WorktreePlan, WorktreeReady } from "../../ports/worktree.ts";
import { creationMessage, findStart, type Start, isBranchName } from "./start.ts";
import { describeInside, processesInside, othersInside, runCommands } from "./commands.ts";
import type { Context } from "../context.ts";
import { fetchMissing } from "./fetch-missing.ts";
import { beginFilters, type Filters } from "../git/filters.ts";
import { checkoutDeadlineMs, git } from "../git/git.ts";
import { registeredAt } from "../find-worktree.ts";
import { readHead } from "../git/git-files.ts";
import { isCheckedOut, readMarker, writeMarker, writeWorktree, type Worktree } from "../record.ts";
import { reach } from "../../base/test-points.ts";
import { provision } from "./provision.ts";
import {
  canRegister,
  finishPointer,
  writeRegistration,
  finishRegistration,
  forgetMissing,
  releaseIndex,
  taken,
} from "../git/registration.ts";
import {
  clearLeftover,
  holderOf,
  isInside,
  inspectPath,
  openRepository,
  type PathState,
  type Repository,
} from "../git/repository.ts";
import { claimSpare, rememberCost } from "./spare.ts";
import { fillSubmodules } from "./submodules.ts";

export async function createWorktree(
  context: Context,
  plan: WorktreePlan,
  output: (text: string) => void,
  signal?: AbortSignal,
): Promise<WorktreeReady> {
  const repository = await openRepository(plan.repository);
  checkPlan(repository, plan);
  finishPointer(repository.commonDir, plan.path);
  const found = inspectPath(repository, plan.path);
  if (found.is === "worktree") {
    const marker = readMarker(found.admin);
    if (marker?.is === "ready" && marker.session === plan.session) {
      remember(context, repository, plan, found.admin);
      return marker.workspace;
    }
    if (marker?.is === "ready") throw taken(plan.path, `it is the worktree of session ${marker.session}`);
    await untilNobodyInside(plan.path);
  }
  const note = (text: string): void => output(`${text}\n`);
  const known = context.preflights.take(plan);
  const { start, filters: reading } = known ?? (await ask(repository, plan));
  let tip: string | null;
  try {
    tip = await makeBranch(repository, plan, start);
  } catch (error) {
    if (known === null) throw error;
    // The branch was created since preflight. Nothing was made yet: start over without its result.
    return await createWorktree(context, plan, output, signal);
  }
  await reach("workspace.create.branched");
  const filters = await reading;
  for (const name of filters.leftOut) {
    note(`Filter ${name} of the repository's own configuration does not run. To trust it, set it in ~/.gitconfig.`);
  }
  const admin = await register(context, repository, plan, { found, tip, filters });
  const worktree = remember(context, repository, plan, admin);
  await reach("workspace.create.added");
  await attach(worktree, plan);
  await reach("workspace.create.attached");
  if (tip !== null && filters.partial) await fetchMissing(context, repository, tip, note);
  await checkOut(context, repository, { worktree, tip, filters });
  await reach("workspace.create.checked-out");
  const modules = join(repository.commonDir, "modules");
  await fillSubmodules({ path: plan.path, where: { worktree }, modules, partial: filters.partial, note });
  await reach("workspace.create.submodules");
  await link(context, repository, plan, { worktree, filters, note });
  await reach("workspace.create.linked");
  await runCommands(plan.postCreate, { path: plan.path, env: plan.env, output, signal });
  await reach("workspace.create.commands");

  const ready = describe(plan, start);
  writeMarker(admin, { is: "ready", session: plan.session, workspace: ready });
  await reach("workspace.create.ready");
  return ready;
}

/** From now on git uses this directory, whatever the worktree's `.git` names. */
function remember(context: Context, { commonDir }: Repository, plan: WorktreePlan, admin: string): Worktree {
  const { path, session, objects = null } = plan;
  const worktree = { path, admin, commonDir, session, objects };
  writeWorktree(context.worktrees, worktree);
  return worktree;
}

async function ask(repository: Repository, plan: WorktreePlan): Promise<{ start: Start; filters: Promise<Filters> }> {
  const filters = beginFilters({ gitDir: repository.commonDir });
  const start = await findStart(repository, plan);
  await checkFree(repository, plan, start);
  return { start, filters };
}

function describe({ path, branch }: WorktreePlan, start: Start): WorktreeReady {
  if (start.is === "unborn") return { path, branch, branchCreated: true, base: branch };
  if (start.is === "commit") return { path, branch, branchCreated: true, base: start.commit };
  return { path, branch, branchCreated: start.ours, base: start.base };
}

export function checkPlan(repository: Repository, plan: WorktreePlan): void {
  if (!isBranchName(plan.branch)) {
    throw new HoldfastError("invalid", `${JSON.stringify(plan.branch)} is not a valid branch name.`, {
      hint: "Choose another name with --branch.",
    });
  }
  const home = repository.root ?? repository.commonDir;
  // If `.git` of a worktree inside the repository is lost, git silently acts on the repository itself.
  if (isInside(home, plan.path) || isInside(plan.path, home) || isInside(repository.commonDir, plan.path)) {
    throw new HoldfastError("preflight-failed", `${plan.path} is inside the repository ${home}.`, {
      hint: "Keep worktrees outside the repository.",
    });
  }
}

export async function checkFree(repository: Repository, plan: WorktreePlan, start: Start): Promise<void> {
  if (start.is === "commit") return;
  const holder = await holderOf(repository, plan.branch, plan.path);
  if (holder === null) return;
  throw new HoldfastError("conflict", `Branch ${plan.branch} is checked out in ${holder}.`, {
    hint: "Choose another branch with --branch, or switch that worktree to another one.",
  });
}

/** Returns the branch's tip; null in a repository without a commit. */
async function makeBranch(repository: Repository, plan: WorktreePlan, start: Start): Promise<string | null> {
  if (start.is === "unborn") return null;
  if (start.is === "branch") return start.tip;
  const made = ["update-ref", "--create-reflog", "-m", creationMessage(plan)];
  // The empty old value makes this fail if the branch exists by now, instead of moving it.
  await git("write", [...made, `refs/heads/${plan.branch}`, start.commit, ""], { gitDir: repository.commonDir });
  return start.commit;
}

async function register(
  context: Context,
  repository: Repository,
  plan: WorktreePlan,
  { found, tip, filters }: { found: PathState; tip: string | null; filters: Filters },
): Promise<string> {
  const { commonDir } = repository;
  if (found.is === "taken") throw taken(plan.path, found.why);
  if (found.is === "worktree") {
    await finishRegistration(repository, found.admin, plan.path);
    return found.admin;
  }
  if (found.is === "missing") await forgetMissing(repository, found.registration.admin, plan.path);
  clearLeftover(plan.path);
  mkdirSync(dirname(plan.path), { recursive: true, mode: 0o700 });
  if (tip !== null && (await claimSpare(context, repository, plan.path))) {
    // Already registered; its HEAD is still detached.
  } else if (tip !== null && filters.plain && canRegister(plan.path)) {
    return writeRegistration(commonDir, plan.path, plan.branch);
  } else {
    const what = tip === null ? ["--detach", plan.path, await emptyCommit(commonDir)] : [plan.path, plan.branch];
    await git("write", ["worktree", "add", "--quiet", "--no-checkout", ...what], { gitDir: commonDir });
  }
  const admin = registeredAt(repository, plan.path);
  if (admin === null) throw new Error(`git created no worktree at ${plan.path}`);
  return admin;
}

/** `worktree add` needs a commit; nothing refers to this one once HEAD names the unborn branch. */
async function emptyCommit(gitDir: string): Promise<string> {
  const tree = (await git("write", ["hash-object", "-t", "tree", "-w", "--stdin"], { gitDir })).trim();
  return (await git("write", ["commit-tree", "-m", "nothing yet", tree], { gitDir })).trim();
}

async function attach(worktree: Worktree, plan: WorktreePlan): Promise<void> {
  const { admin } = worktree;
  const head = readHead(admin);
  if (head?.is === "branch" && head.branch === plan.branch) return;
  if (isCheckedOut(admin) && readMarker(admin)?.is !== "spare") {
    throw taken(plan.path, "its worktree is not on the session's branch");
  }
  const args = ["symbolic-ref", "-m", "holdfast: claimed", "HEAD", `refs/heads/${plan.branch}`];
  await git("write", args, { admin: worktree });
}

async function checkOut(
  context: Context,
  repository: Repository,
  { worktree, tip, filters }: { worktree: Worktree; tip: string | null; filters: Filters },
): Promise<void> {
  const { admin } = worktree;
  const marker = readMarker(admin);
  const atTip = marker?.is === "spare" ? marker.commit === tip : isCheckedOut(admin);
  if (atTip) return;
  releaseIndex(admin);
  if (tip === null) {
    await git("write", ["read-tree", "--empty"], { worktree });
    return;
  }
  const began = performance.now();
  // Reached only if git never finished a checkout here, or for an unused spare.
  const call = { worktree, config: filters.checkout, deadlineMs: checkoutDeadlineMs };
  await git("checkout", ["reset", "--hard", "--quiet"], call);
  if (marker === null) rememberCost(context, repository, performance.now() - began);
}

async function link(
  context: Context,
  { root }: Repository,
  plan: WorktreePlan,
  { worktree, filters, note }: { worktree: Worktree; filters: Filters; note: (text: string) => void },
): Promise<void> {
  if (root === null) {
    if (plan.symlinks.length + plan.copy.length > 0) note("A bare repository has no files to link or copy.");
    return;
  }
  const { symlinks, copy } = plan;
  const scratch = join(context.worktrees, ".scratch", plan.session);
  await provision({ root, worktree, symlinks, copy, scratch, filters: filters.none, note });
}

/** A git that outlived the daemon may still be running, and finishes; a postCreate command starts over. */
async function untilNobodyInside(path: string): Promise<void> {
  let inside = await othersInside(path);
  const deadline = performance.now() + insideDeadlineMs;
  for (; inside.length > 0; inside = processesInside(path)) {
    if (performance.now() > deadline) throw taken(path, `${describeInside(inside)} is still using it`);
    await new Promise((resume) => setTimeout(resume, insidePollMs));
  }
}

const insideDeadlineMs = 10_000;
const insidePollMs = 50;
