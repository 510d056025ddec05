/** What HEAD names, by reading files: two small reads instead of a process for every line of a list. */
import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { readLine } from "./read-regular.ts";
import { readWorktree } from "../record.ts";

/** The branch, a short commit id when detached, null when there is no worktree to ask. */
export function liveBranch(worktrees: string, path: string): string | null {
  // A worktree of an earlier build has no record before it is first worked on; a name to show is all that this reads.
  const gitDir = readWorktree(worktrees, path)?.admin ?? gitDirOf(path);
  return gitDir === null || !existsSync(path) ? null : branchIn(gitDir);
}

/** As `liveBranch`, of a git directory. */
export function branchIn(gitDir: string): string | null {
  const head = readHead(gitDir);
  if (head === null) return null;
  return head.is === "branch" ? head.branch : head.commit.slice(0, shortIdLength);
}

const shortIdLength = 8;

export type Head = { is: "branch"; branch: string } | { is: "detached"; commit: string };

/** HEAD of a git directory. A ref outside `refs/heads` is named in full. */
export function readHead(gitDir: string): Head | null {
  const text = readLine(`${gitDir}/HEAD`);
  if (text === null) return null;
  if (!text.startsWith("ref: ")) return /^[0-9a-f]{40,64}$/.test(text) ? { is: "detached", commit: text } : null;
  const ref = text.slice("ref: ".length).trim();
  return { is: "branch", branch: ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : ref };
}

/**
 * The git directory that `<path>/.git` is or points to; null when there is none. It need not exist. For a person's own
 * repository, and to see whether a worktree still names what our record says: never to find a session's repository.
 */
export function gitDirOf(path: string): string | null {
  // Put together by hand: a list of a hundred at a cold start spends more on node:path than on reading the files.
  const dotGit = `${path}/.git`;
  const text = readLine(dotGit);
  if (text === null) return statSync(dotGit, { throwIfNoEntry: false })?.isDirectory() === true ? dotGit : null;
  if (!text.startsWith("gitdir: ")) return null;
  const named = text.slice("gitdir: ".length);
  return isAbsolute(named) ? named : resolve(path, named);
}
