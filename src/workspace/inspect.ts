/** What a worktree holds that nothing else does: changed files, and commits that no other ref reaches. Runs no filter. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../protocol/error.ts";
import type { WorkspaceWork } from "../ports/workspace.ts";
import { readFilters } from "./filters.ts";
import { git, runGit, type ConfigEntry } from "./git.ts";
import { gitDirOf, readHead } from "./head.ts";
import { readSubmodules } from "./submodules.ts";

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

export async function inspectWorktree(path: string, depth = 0): Promise<Findings> {
  const gitDir = gitDirOf(path);
  if (gitDir === null || !existsSync(gitDir)) throw new HoldfastError("not-found", `${path} is not a worktree.`);
  const [{ filters, plain, status }, unpushed] = await Promise.all([readStatus(path), readUnpushed(path, gitDir)]);
  const { head, changes } = parseStatus(status);
  const work = { uncommitted: changes.length, unpushed };
  for (const submodule of depth < maxDepth ? await readSubmodules(path) : []) {
    const inner = join(path, submodule.path);
    if (!existsSync(join(inner, ".git"))) continue;
    const found = await inspectWorktree(inner, depth + 1);
    work.uncommitted += found.work.uncommitted;
    work.unpushed.push(...found.work.unpushed.map((line) => `${submodule.path}: ${line}`));
  }
  return { head, changes, work, filters, plain };
}

/** A million files on a cold disk. */
const statusDeadlineMs = 5 * 60_000;

export async function readStatus(path: string): Promise<{ filters: ConfigEntry[]; plain: boolean; status: string }> {
  const { none: filters, plain } = await readFilters({ cwd: path });
  // A submodule's own configuration names filters too, so git is not sent into it; we go ourselves.
  const shown = ["--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const status = await git(["status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", ...shown], {
    cwd: path,
    config: filters,
    encoding: "latin1",
    deadlineMs: statusDeadlineMs,
  });
  return { filters, plain, status };
}

async function readUnpushed(path: string, gitDir: string): Promise<string[]> {
  const head = readHead(gitDir);
  const own = head?.is === "branch" ? [`--exclude=refs/heads/${head.branch}`] : [];
  const others = ["--not", ...own, "--exclude=refs/holdfast/*", "--exclude=refs/stash", "--glob=refs/*"];
  const args = ["rev-list", `--max-count=${maxNamed}`, "--abbrev-commit", "--format=%h %s", "HEAD", ...others];
  const answer = await runGit(args, { cwd: path });
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
