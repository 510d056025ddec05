/** What only this worktree contains: changed files, and commits that no other ref reaches. Runs no filter. */
import { join, resolve } from "node:path";
import type { WorktreeWork } from "../../ports/worktree.ts";
import { inScratch, type Context } from "../context.ts";
import { readFilters } from "../git/filters.ts";
import { contradiction } from "../find-worktree.ts";
import { git, runGit, type GitCall } from "../git/git.ts";
import type { ConfigEntry } from "../git/git-rules.ts";
import { readHead, gitDirOf, copyRegular, readLine, readText, writeConfig } from "../git/git-files.ts";
import type { Worktree } from "../record.ts";
import { readSubmodules } from "../create/submodules.ts";
import { existsSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { isInside } from "../git/repository.ts";

/** Names are latin1 strings, one character per byte: a file name may not be UTF-8. */
export interface Change {
  path: string;
  is: "untracked" | "unmerged" | "tracked";
  /** Differs between HEAD and the index. */
  staged: boolean;
  /** Differs between the index and the file. */
  unstaged: boolean;
  submodule: boolean;
}

export interface Findings {
  /** Null in a repository without a commit. */
  head: string | null;
  changes: Change[];
  work: WorktreeWork;
  filters: readonly ConfigEntry[];
  /** Whether the repository has git's plain format. */
  plain: boolean;
}

/** More than a user reads; counting the rest would take as long as listing it. */
const maxNamed = 100;
const maxDepth = 8;

type Scratch = Pick<Context, "worktrees" | "findings">;

export async function inspectWorktree(context: Scratch, worktree: Worktree): Promise<Findings> {
  const [{ filters, plain, status }, unpushed] = await Promise.all([
    readStatus(worktree),
    readUnpushed(worktree, { worktree }),
  ]);
  const { head, changes } = parseStatus(status);
  const work: WorktreeWork = { uncommitted: changes.length, unpushed };
  await addNested(context, { outer: worktree, path: worktree.path, depth: 0, prefix: "" }, work);
  const note = contradiction(context, worktree);
  if (note !== null) work.note = `${note} Holdfast uses its own record of this worktree.`;
  return { head, changes, work, filters, plain };
}

interface Nesting {
  /** The session's worktree: nothing outside it and its git directory is read. */
  outer: Worktree;
  path: string;
  depth: number;
  prefix: string;
}

async function addNested(context: Scratch, { outer, path, depth, prefix }: Nesting, work: WorktreeWork): Promise<void> {
  for (const submodule of depth < maxDepth ? await readSubmodules(path) : []) {
    const inner = join(path, submodule.path);
    const name = `${prefix}${submodule.path}: `;
    const found = await inspectNested(context, outer, inner, inspectView);
    if (found === null) continue;
    work.uncommitted += found.uncommitted;
    work.unpushed.push(...found.unpushed.map((line) => `${name}${line}`));
    await addNested(context, { outer, path: inner, depth: depth + 1, prefix: name }, work);
  }
}

async function inspectView(view: View): Promise<WorktreeWork> {
  const call: GitCall = { worktree: view, env: { GIT_OBJECT_DIRECTORY: view.objectDirectory } };
  const [status, unpushed] = await Promise.all([askStatus(call), readUnpushed(view, call)]);
  return { uncommitted: parseStatus(status).changes.length, unpushed };
}

/** A million files on a cold disk. */
const statusDeadlineMs = 5 * 60_000;

export async function readStatus(
  worktree: Worktree,
): Promise<{ filters: ConfigEntry[]; plain: boolean; status: string }> {
  const { none: filters, plain } = await readFilters({ worktree });
  return { filters, plain, status: await askStatus({ worktree, config: filters }) };
}

async function askStatus(call: GitCall): Promise<string> {
  // A submodule's own configuration may name filters, so git does not recurse into it; we do, without that
  // configuration.
  const shown = ["--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const args = ["status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", ...shown];
  return await git("read", args, { ...call, encoding: "latin1", deadlineMs: statusDeadlineMs });
}

async function readUnpushed({ admin }: Worktree, call: GitCall): Promise<string[]> {
  const head = readHead(admin);
  const own = head?.is === "branch" ? [`--exclude=refs/heads/${head.branch}`] : [];
  const others = ["--not", ...own, "--exclude=refs/holdfast/*", "--exclude=refs/stash", "--glob=refs/*"];
  const args = ["rev-list", `--max-count=${maxNamed}`, "--abbrev-commit", "--format=%h %s", "HEAD", ...others];
  const answer = await runGit("read", args, call);
  // No HEAD yet: nothing can be unpushed.
  if (answer.code !== 0) return [];
  return answer.stdout
    .split("\n")
    .filter((line, index) => index % 2 === 1 && line !== "")
    .map(stripControls);
}

export function parseStatus(text: string): { head: string | null; changes: Change[] } {
  let head: string | null = null;
  const changes: Change[] = [];
  for (const entry of text.split("\0")) {
    if (entry.startsWith("# branch.oid ")) {
      const oid = entry.slice("# branch.oid ".length);
      head = oid === "(initial)" ? null : oid;
      continue;
    }
    const kind = entry[0];
    if (kind === "?") {
      const none = { staged: false, unstaged: true, submodule: false };
      changes.push({ path: entry.slice(2), is: "untracked", ...none });
    } else if (kind === "1" || kind === "u") {
      // `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`; the path may contain spaces.
      const fields = entry.split(" ");
      const [, states = "..", submodule = "N..."] = fields;
      changes.push({
        path: fields.slice(kind === "1" ? 8 : 10).join(" "),
        is: kind === "1" ? "tracked" : "unmerged",
        staged: states[0] !== ".",
        unstaged: kind === "u" || states[1] !== ".",
        submodule: submodule.startsWith("S"),
      });
    }
  }
  return { head, changes };
}

export function stripControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- a commit's subject is anybody's text
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

/** A nested worktree whose objects are not in its git directory. */
interface View extends Worktree {
  objectDirectory: string;
}

/**
 * Inspects a repository inside a worktree through our own git directory: its HEAD, index, refs and objects,
 * without its configuration, attributes or hooks. The agent can change those at any moment, so switching off the
 * programs they name would be a race. Null unless the repository is entirely inside the session's worktree and its git
 * directory.
 */
async function inspectNested<T>(
  context: Pick<Context, "worktrees">,
  outer: Worktree,
  path: string,
  inspect: (view: View) => Promise<T>,
): Promise<T | null> {
  const gitDir = nestedGitDir(outer, path);
  if (gitDir === null) return null;
  return await inScratch(context, "nested", async (directory) => {
    mkdirSync(join(directory, "info"), { mode: 0o700 });
    if (!writeView(directory, gitDir)) return null;
    const { session, objects } = outer;
    const objectDirectory = join(gitDir, "objects");
    return await inspect({ path, admin: directory, commonDir: directory, session, objects, objectDirectory });
  });
}

function nestedGitDir(outer: Worktree, path: string): string | null {
  if (!isInside(outer.path, path) || lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  const gitDir = gitDirOf(path);
  if (gitDir === null || !existsSync(gitDir)) return null;
  // A worktree or clone of another repository would show that one's commits.
  const isOwn = isInside(outer.path, gitDir) || isInside(join(outer.admin, "modules"), gitDir);
  if (!isOwn || existsSync(join(gitDir, "commondir"))) return null;
  return resolve(gitDir);
}

function writeView(directory: string, gitDir: string): boolean {
  const head = readLine(join(gitDir, "HEAD"));
  if (head === null || readHead(gitDir) === null || existsSync(join(gitDir, "reftable"))) return false;
  const isLong = /^\s*objectformat\s*=\s*"?sha256"?\s*$/im.test(readText(join(gitDir, "config")) ?? "");
  writeConfig(directory, { isBare: false, isLong });
  writeFileSync(join(directory, "HEAD"), `${head}\n`);
  // Overrides every `.gitattributes`: no file has a filter, so your own filters do not run either.
  writeFileSync(join(directory, "info", "attributes"), "* !filter !diff !merge\n");
  copyRegular(join(gitDir, "index"), join(directory, "index"));
  copyRegular(join(gitDir, "packed-refs"), join(directory, "packed-refs"));
  if (statSync(join(gitDir, "refs"), { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  symlinkSync(join(gitDir, "refs"), join(directory, "refs"));
  // Without this directory git does not accept a repository, wherever its objects are.
  mkdirSync(join(directory, "objects"));
  return true;
}
