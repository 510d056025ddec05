/** Where a session's branch starts: its own branch if it exists, else the freshest default branch, else nothing yet. */
import { join } from "node:path";
import { crypto } from "../../base/digest.ts";
import { HoldfastError } from "../../contract/error.ts";
import type { WorkspacePlan } from "../../ports/worktree.ts";
import { askGit, git, runGit, type GitCall } from "../git/git.ts";
import { readHead } from "../git/head.ts";
import { readLine } from "../git/read-regular.ts";
import { readPlainStart } from "../git/ref-files.ts";
import type { Repository } from "../git/repository.ts";

export type Start =
  /** The branch is there; `ours` when this very session made it. */
  | { is: "branch"; tip: string; base: string; ours: boolean }
  | { is: "commit"; commit: string }
  /** The repository has no commit yet. */
  | { is: "unborn" };

type StartPlan = Pick<WorkspacePlan, "session" | "repository" | "path" | "branch" | "base" | "defaultBranch">;

interface Candidate {
  ref: string;
  commit: string;
  committedAt: number;
  upstream: string;
}

export async function findStart(repository: Repository, plan: StartPlan): Promise<Start> {
  const plain = plan.base === null ? readPlainStart(repository.commonDir, plan.branch, plan.defaultBranch) : null;
  return plain === null ? await askStart(repository, plan) : { is: "commit", commit: plain };
}

async function askStart(repository: Repository, plan: StartPlan): Promise<Start> {
  const own = `refs/heads/${plan.branch}`;
  const remoteOwn = `refs/remotes/origin/${plan.branch}`;
  const refs = await readRefs(repository, [own, remoteOwn, ...defaultRefs(plan.defaultBranch)]);
  const existing = refs.find((ref) => ref.ref === own);
  if (existing !== undefined) {
    const began = readCreation(repository.commonDir, plan);
    return { is: "branch", tip: existing.commit, base: began ?? existing.commit, ours: began !== null };
  }
  if (plan.base !== null) return { is: "commit", commit: await resolveBase(repository, plan.base) };
  // Somebody pushed this very branch: going on from there is what its name promises.
  const pushed = refs.find((ref) => ref.ref === remoteOwn);
  if (pushed !== undefined) return { is: "commit", commit: pushed.commit };
  return await freshestDefault(repository, plan.repository, plan.defaultBranch, refs);
}

/** The commit a new branch would start from when nothing else is asked; also what a spare worktree is kept at. */
export async function findDefault(repository: Repository, path: string, defaultBranch: string): Promise<Start> {
  return await freshestDefault(repository, path, defaultBranch, await readRefs(repository, defaultRefs(defaultBranch)));
}

async function freshestDefault(
  repository: Repository,
  path: string,
  defaultBranch: string,
  refs: readonly Candidate[],
): Promise<Start> {
  const local = refs.find((ref) => ref.ref === `refs/heads/${defaultBranch}`);
  const wanted = new Set([local?.ref, local?.upstream, `refs/remotes/origin/${defaultBranch}`]);
  const commit = await freshest(
    repository,
    refs.filter((ref) => wanted.has(ref.ref)),
  );
  if (commit !== null) return { is: "commit", commit };
  const head = readHead(repository.commonDir);
  const born = await askGit("look", ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], {
    gitDir: repository.commonDir,
  });
  if (born === null && head?.is === "branch") return { is: "unborn" };
  throw new HoldfastError("preflight-failed", `${path} has no branch ${defaultBranch}.`, {
    hint: "Set the project's defaultBranch, or name a base with --base.",
  });
}

const defaultRefs = (branch: string): string[] => [`refs/heads/${branch}`, `refs/remotes/*/${branch}`];

async function readRefs(repository: Repository, patterns: string[]): Promise<Candidate[]> {
  const format = "--format=%(objectname)%00%(committerdate:unix)%00%(refname)%00%(upstream)";
  const text = await git("look", ["for-each-ref", format, "--", ...patterns], { gitDir: repository.commonDir });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [commit = "", date = "0", ref = "", upstream = ""] = line.split("\0");
      return { commit, committedAt: Number(date), ref, upstream };
    });
}

/** A descendant beats its ancestor; of two that went apart the later commit wins, the local one on a tie. */
async function freshest(repository: Repository, candidates: readonly Candidate[]): Promise<string | null> {
  let best: Candidate | undefined;
  for (const next of candidates) {
    if (best === undefined) best = next;
    else if (best.commit !== next.commit && (await isFresher(repository, next, best))) best = next;
  }
  return best?.commit ?? null;
}

async function isFresher(repository: Repository, next: Candidate, best: Candidate): Promise<boolean> {
  const [ahead, behind] = await Promise.all([
    isAncestor({ gitDir: repository.commonDir }, best.commit, next.commit),
    isAncestor({ gitDir: repository.commonDir }, next.commit, best.commit),
  ]);
  return ahead !== behind ? ahead : next.committedAt > best.committedAt;
}

export async function isAncestor(where: GitCall, older: string, newer: string): Promise<boolean> {
  return (await runGit("look", ["merge-base", "--is-ancestor", older, newer], where)).code === 0;
}

async function resolveBase(repository: Repository, base: string): Promise<string> {
  const commit = await askGit("look", ["rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`], {
    gitDir: repository.commonDir,
  });
  if (commit !== null) return commit;
  throw new HoldfastError("preflight-failed", `There is no commit called ${base}.`, {
    hint: "Run `git fetch` if it is on the remote, or name another base.",
  });
}

type Creator = Pick<WorkspacePlan, "session" | "path">;

/**
 * The reflog says who made a branch, atomically with making it, so that a crash leaves no doubt. Two homes may both have a
 * session of this id in one repository; the path of its worktree tells them apart.
 */
export function creationMessage({ session, path }: Creator): string {
  const place = crypto().createHash("sha256").update(path).digest("hex").slice(0, 16);
  return `holdfast: created for ${session} (${place})`;
}

/** Where a branch began that this very session made; null when anybody else did. */
export function readCreation(commonDir: string, plan: Creator & { branch: string }): string | null {
  const first = readLine(join(commonDir, "logs/refs/heads", plan.branch))?.split("\n")[0];
  const [who = "", message = ""] = first?.split("\t") ?? [];
  return message === creationMessage(plan) ? (who.split(" ")[1] ?? null) : null;
}
