/** What a worktree holds that nothing else does: changed files, and commits that no other ref reaches. Runs no filter. */
import { join } from "node:path";
import type { WorkspaceWork } from "../../ports/worktree.ts";
import type { Context } from "../context.ts";
import { readFilters } from "../git/filters.ts";
import { contradiction } from "../find-worktree.ts";
import { git, runGit, type GitCall } from "../git/git.ts";
import type { ConfigEntry } from "../git/git-rules.ts";
import { readHead } from "../git/head.ts";
import { lookInside, type View } from "./nested.ts";
import type { Worktree } from "../record.ts";
import { readSubmodules } from "../create/submodules.ts";

/** Names are kept as latin1 strings, one character a byte: a file name need not be UTF-8. */
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
  work: WorkspaceWork;
  filters: readonly ConfigEntry[];
  /** Whether the repository has git's plain format. */
  plain: boolean;
}

/** More names than a person reads; the count of the rest would cost as much as the list. */
const maxNamed = 100;
const maxDepth = 8;

type Scratch = Pick<Context, "worktrees" | "findings">;

export async function inspectWorktree(context: Scratch, worktree: Worktree): Promise<Findings> {
  const [{ filters, plain, status }, unpushed] = await Promise.all([
    readStatus(worktree),
    readUnpushed(worktree, { worktree }),
  ]);
  const { head, changes } = parseStatus(status);
  const work: WorkspaceWork = { uncommitted: changes.length, unpushed };
  await addNested(context, { outer: worktree, path: worktree.path, depth: 0, prefix: "" }, work);
  const note = contradiction(context, worktree);
  if (note !== null) work.note = `${note} Holdfast goes by its own record of this worktree.`;
  return { head, changes, work, filters, plain };
}

interface Nesting {
  /** The session's worktree: nothing outside of it and of its directory of git is looked at. */
  outer: Worktree;
  path: string;
  depth: number;
  prefix: string;
}

async function addNested(
  context: Scratch,
  { outer, path, depth, prefix }: Nesting,
  work: WorkspaceWork,
): Promise<void> {
  for (const submodule of depth < maxDepth ? await readSubmodules(path) : []) {
    const inner = join(path, submodule.path);
    const name = `${prefix}${submodule.path}: `;
    const found = await lookInside(context, outer, inner, async (view) => await inspectView(view));
    if (found === null) continue;
    work.uncommitted += found.uncommitted;
    work.unpushed.push(...found.unpushed.map((line) => `${name}${line}`));
    await addNested(context, { outer, path: inner, depth: depth + 1, prefix: name }, work);
  }
}

async function inspectView(view: View): Promise<WorkspaceWork> {
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
  // A submodule's own configuration names filters too, so git is not sent into it; we go ourselves, without that.
  const shown = ["--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const args = ["status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", ...shown];
  return await git("look", args, { ...call, encoding: "latin1", deadlineMs: statusDeadlineMs });
}

async function readUnpushed({ admin }: Worktree, call: GitCall): Promise<string[]> {
  const head = readHead(admin);
  const own = head?.is === "branch" ? [`--exclude=refs/heads/${head.branch}`] : [];
  const others = ["--not", ...own, "--exclude=refs/holdfast/*", "--exclude=refs/stash", "--glob=refs/*"];
  const args = ["rev-list", `--max-count=${maxNamed}`, "--abbrev-commit", "--format=%h %s", "HEAD", ...others];
  const answer = await runGit("look", args, call);
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
      // `1 XY sub mH mI mW hH hI path`, `u XY sub m1 m2 m3 mW h1 h2 h3 path`; the path may hold spaces.
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

function stripControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- a commit's subject is anybody's text
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
