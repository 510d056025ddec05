/** Which branch a session gets, and where it starts: at its own branch, the freshest default branch, or nothing yet. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { HoldfastError } from "../../contract/errors.ts";
import type { WorktreePlan } from "../../ports/worktree.ts";
import type { Filters } from "../git/filters.ts";
import { commitOf, git, runGit, type GitCall } from "../git/git.ts";
import { readHead, readLine } from "../git/git-files.ts";
import { openRefFiles, type RefFiles } from "../git/ref-files.ts";
import { holderOf, openRepository, type Repository } from "../git/repository.ts";

export type Start =
  /** The branch exists; `ours` if this session created it. */
  | { is: "branch"; tip: string; base: string; ours: boolean }
  | { is: "commit"; commit: string }
  /** The repository has no commit yet. */
  | { is: "unborn" };

type StartPlan = Pick<WorktreePlan, "session" | "repository" | "path" | "branch" | "base" | "defaultBranch">;

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

/** The start of a new branch if all refs agree on one commit; in any other case null, and git is asked. */
export function readPlainStart(commonDir: string, branch: string, defaultBranch: string): string | null {
  const refs = openRefFiles(commonDir);
  if (refs === null) return null;
  if (refs.read(`refs/heads/${branch}`) !== null || refs.read(`refs/remotes/origin/${branch}`) !== null) return null;
  // The configuration decides which other remote counts.
  if (refs.remotes().some((remote) => remote !== "origin")) return null;
  const local = refs.read(`refs/heads/${defaultBranch}`);
  const remote = refs.read(`refs/remotes/origin/${defaultBranch}`);
  const commit = local ?? remote;
  if (commit === null || (local !== null && remote !== null && local !== remote)) return null;
  // Not a symbolic ref, a half-written file, or another object format.
  return /^[0-9a-f]{40}$/.test(commit) ? commit : null;
}

async function askStart(repository: Repository, plan: StartPlan): Promise<Start> {
  const own = `refs/heads/${plan.branch}`;
  const remoteOwn = `refs/remotes/origin/${plan.branch}`;
  const refs = await readRefs(repository, [own, remoteOwn, ...defaultRefs(plan.defaultBranch)]);
  const existing = refs.find((ref) => ref.ref === own);
  if (existing !== undefined) {
    const start = readCreation(repository.commonDir, plan);
    return { is: "branch", tip: existing.commit, base: start ?? existing.commit, ours: start !== null };
  }
  if (plan.base !== null) return { is: "commit", commit: await resolveBase(repository, plan.base) };
  // This very branch was pushed: continue from there.
  const pushed = refs.find((ref) => ref.ref === remoteOwn);
  if (pushed !== undefined) return { is: "commit", commit: pushed.commit };
  return await freshestDefault(repository, plan.repository, plan.defaultBranch, refs);
}

/** The commit a new branch starts from by default; a spare worktree is kept at it. */
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
  const born = await commitOf("HEAD", { gitDir: repository.commonDir });
  if (born === null && head?.is === "branch") return { is: "unborn" };
  throw new HoldfastError("preflight-failed", `${path} has no branch ${defaultBranch}.`, {
    hint: "Set the project's defaultBranch, or choose a base with --base.",
  });
}

const defaultRefs = (branch: string): string[] => [`refs/heads/${branch}`, `refs/remotes/*/${branch}`];

async function readRefs(repository: Repository, patterns: string[]): Promise<Candidate[]> {
  const format = "--format=%(objectname)%00%(committerdate:unix)%00%(refname)%00%(upstream)";
  const text = await git("read", ["for-each-ref", format, "--", ...patterns], { gitDir: repository.commonDir });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [commit = "", date = "0", ref = "", upstream = ""] = line.split("\0");
      return { commit, committedAt: Number(date), ref, upstream };
    });
}

/** A descendant wins over its ancestor; of two that diverged, the later commit wins, and the local one on a tie. */
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
  return (await runGit("read", ["merge-base", "--is-ancestor", older, newer], where)).code === 0;
}

async function resolveBase(repository: Repository, base: string): Promise<string> {
  const commit = await commitOf(base, { gitDir: repository.commonDir });
  if (commit !== null) return commit;
  throw new HoldfastError("preflight-failed", `Commit ${base} does not exist.`, {
    hint: "Run `git fetch` if it is on the remote, or choose another base.",
  });
}

type Creator = Pick<WorktreePlan, "session" | "path">;

/**
 * The reflog records which session created a branch, atomically with its creation. Sessions of two homes may have the same
 * id in one repository; the worktree's path distinguishes them.
 */
export function creationMessage({ session, path }: Creator): string {
  const digest = createHash("sha256").update(path).digest("hex").slice(0, 16);
  return `holdfast: created for ${session} (${digest})`;
}

/** Where a branch started, if this very session created it; otherwise null. */
export function readCreation(commonDir: string, plan: Creator & { branch: string }): string | null {
  const first = readLine(join(commonDir, "logs/refs/heads", plan.branch))?.split("\n")[0];
  const [who = "", message = ""] = first?.split("\t") ?? [];
  return message === creationMessage(plan) ? (who.split(" ")[1] ?? null) : null;
}

/** The rules of `git check-ref-format --branch`: refuses an invalid name before anything is created. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "@" || name === "HEAD" || name.startsWith("-") || Buffer.byteLength(name) > 240)
    return false;
  // oxlint-disable-next-line no-control-regex -- git forbids control characters
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$|^\/|\/$/.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

/** The first of `wanted`, `wanted-2`, `wanted-3` … that neither exists nor is checked out, not even unborn. */
export async function findFreeBranch(path: string, wanted: string): Promise<string> {
  const repository = await openRepository(path);
  const refs = openRefFiles(repository.commonDir) ?? { hasBranch: await askBranches(repository.commonDir, wanted) };
  const parts = wanted.split("/");
  // With a branch `a` there can be no `a/b`, whatever its number.
  const blocked = parts.some((_, at) => at > 0 && refs.hasBranch(parts.slice(0, at).join("/"), false));
  const stem = blocked ? parts.join("-") : wanted;
  for (let number = 1; ; number++) {
    const name = number === 1 ? stem : `${stem}-${number}`;
    if (!refs.hasBranch(name, true) && (await holderOf(repository, name, "")) === null) return name;
  }
}

async function askBranches(gitDir: string, wanted: string): Promise<RefFiles["hasBranch"]> {
  const first = wanted.split("/")[0]!;
  const patterns = [`refs/heads/${first}`, `refs/heads/${first}-*`, `refs/heads/${first}-*/**`];
  const text = await git("read", ["for-each-ref", "--format=%(refname:lstrip=2)", "--", ...patterns], { gitDir });
  const names = text.split("\n");
  return (name, below) => names.some((one) => one === name || (below && one.startsWith(`${name}/`)));
}

interface PreflightResult {
  start: Extract<Start, { is: "commit" }>;
  /** Still being read: needed only once the branch exists. */
  filters: Promise<Filters>;
}

/** A spawn gets from preflight to `create` within milliseconds, unless it had to queue. */
const validMs = 2000;

/**
 * What preflight found, for the `create` that follows: asking git again would cost a spawn two more processes
 * (bench/spawn.ts).
 */
export class PreflightCache {
  readonly #found = new Map<string, { until: number; result: PreflightResult }>();

  /** Only for new branches: creating one fails if it exists by then, so a stale result does no harm. */
  put(plan: WorktreePlan, start: Start, filters: Promise<Filters>): void {
    const now = performance.now();
    for (const [key, { until }] of this.#found) if (until < now) this.#found.delete(key);
    if (start.is === "commit") this.#found.set(keyOf(plan), { until: now + validMs, result: { start, filters } });
  }

  take(plan: WorktreePlan): PreflightResult | null {
    const key = keyOf(plan);
    const found = this.#found.get(key);
    this.#found.delete(key);
    return found === undefined || found.until < performance.now() ? null : found.result;
  }
}

function keyOf({ session, repository, path, branch, base, defaultBranch }: WorktreePlan): string {
  return JSON.stringify([session, repository, path, branch, base, defaultBranch]);
}
