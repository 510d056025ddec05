/** Finds problems that would stop `create`, before anything is created. */
import { existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { HoldfastError } from "../../contract/errors.ts";
import type { WorktreePlan } from "../../ports/worktree.ts";
import { splitArgv } from "./commands.ts";
import { findStart } from "./start.ts";
import type { Context } from "../context.ts";
import { checkFree, checkPlan } from "./create.ts";
import { beginFilters } from "../git/filters.ts";
import { git } from "../git/git.ts";
import { readMarker } from "../record.ts";
import { checkProvision } from "./provision.ts";
import { inspectPath, openRepository } from "../git/repository.ts";

/** With less, a checkout or the agent's first build fills the disk. */
const minFreeBytes = 256 * 1024 * 1024;
/** The first version that reads configuration from the environment and can repair worktrees. */
const oldestGit = [2, 31] as const;

let gitIsNewEnough = false;

export async function preflight(context: Pick<Context, "preflights">, plan: WorktreePlan): Promise<string[]> {
  const problems: string[] = [];
  const attempt = async (check: () => void | Promise<void>): Promise<void> => {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      problems.push(error.hint === null ? error.message : `${error.message} ${error.hint}`);
    }
  };
  await attempt(checkGit);
  if (problems.length > 0) return problems;
  await attempt(async () => {
    const repository = await openRepository(plan.repository);
    checkPlan(repository, plan);
    const found = inspectPath(repository, plan.path);
    if (found.is === "taken") problems.push(`${plan.path} cannot be used: ${found.why}. Move it away.`);
    const marker = found.is === "worktree" ? readMarker(found.admin) : null;
    if (marker?.is === "ready" && marker.session !== plan.session) {
      problems.push(`${plan.path} is the worktree of session ${marker.session}.`);
    }
    const filters = beginFilters({ gitDir: repository.commonDir });
    const start = await findStart(repository, plan);
    await checkFree(repository, plan, start);
    context.preflights.put(plan, start, filters);
  });
  for (const line of plan.postCreate) await attempt(() => void splitArgv(line));
  problems.push(...checkProvision(plan), ...checkDisk(plan.path));
  return problems;
}

async function checkGit(): Promise<void> {
  if (gitIsNewEnough) return;
  const version = await git("read", ["version"]);
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  if (major < oldestGit[0] || (major === oldestGit[0] && minor < oldestGit[1])) {
    throw new HoldfastError("preflight-failed", `${version.trim()} is too old.`, {
      hint: "Install git 2.31 or newer.",
    });
  }
  gitIsNewEnough = true;
}

function checkDisk(path: string): string[] {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  if (free >= minFreeBytes) return [];
  return [
    `Only ${Math.floor(free / 1024 / 1024)} MB are free on the disk of ${existing}. Free some space, for example with \`holdfast trash empty\`.`,
  ];
}
