/**
 * Facts about whether the base contains a worktree's commits by content: after a squash or rebase they have other ids.
 * Only plumbing commands: no merge, filter or driver of the repository runs, and nothing is written.
 */
import type { MergeFacts } from "../../model/cleanup.ts";
import type { MergeQuery } from "../../ports/worktree.ts";
import { isAncestor } from "../create/start.ts";
import { askGit, commitOf, git } from "../git/git.ts";
import type { Worktree } from "../record.ts";
import { stripControls } from "./inspect.ts";

/** More than a user reads, and more than a session's branch has. */
const maxCommits = 100;
/** If the base has more new commits than this, it is not searched for a squash. */
const maxBaseCommits = 400;
const maxPatchBytes = 64 * 1024 * 1024;
const plain = ["--no-ext-diff", "--no-textconv", "--no-renames", "--no-color"];

export async function readMergeFacts(worktree: Worktree, question: MergeQuery): Promise<MergeFacts> {
  const { defaultBranch } = question;
  const bases = await existing(worktree, [
    `refs/remotes/origin/${defaultBranch}`,
    `refs/heads/${defaultBranch}`,
    ...(question.mergeCommit === null ? [] : [question.mergeCommit]),
  ]);
  const heads = await existing(worktree, question.heads);
  const ahead = await commitsOf(worktree, bases);
  const behindNoHead = heads.length === 0 ? ahead : await commitsOf(worktree, [...bases, ...heads]);
  const facts = { ahead: ahead.map(line), behindNoHead: behindNoHead.map(line) };
  if (behindNoHead.length === 0 || bases.length === 0) return { ...facts, sameFiles: null, samePatch: null };
  return { ...facts, sameFiles: await sameFiles(worktree, bases), samePatch: await samePatch(worktree, bases, ahead) };
}

/** Whether the worktree's HEAD contains this commit and its start does not: then it is the session's own. */
export async function isOwnCommit(worktree: Worktree, commit: string, base: string): Promise<boolean> {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return false;
  if ((await existing(worktree, [commit])).length === 0) return false;
  if (!(await isAncestor({ worktree }, commit, "HEAD"))) return false;
  return !(/^[0-9a-f]{40,64}$/.test(base) && (await isAncestor({ worktree }, commit, base)));
}

interface Commit {
  id: string;
  text: string;
}

const line = ({ text }: Commit): string => text;

/** The names that exist, as commits; an id that was never fetched is left out. */
async function existing(worktree: Worktree, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => commitOf(name, { worktree })));
  return [...new Set(found.filter((commit) => commit !== null))];
}

async function commitsOf(worktree: Worktree, without: readonly string[]): Promise<Commit[]> {
  const args = [
    "rev-list",
    `--max-count=${maxCommits}`,
    "--no-commit-header",
    "--format=%H %h %s",
    "HEAD",
    "--not",
    ...without,
  ];
  // A failure throws: an empty result would mean that everything is merged.
  const text = await git("read", args, { worktree });
  return text
    .split("\n")
    .filter((each) => each !== "")
    .map((each) => ({ id: each.slice(0, each.indexOf(" ")), text: stripControls(each.slice(each.indexOf(" ") + 1)) }));
}

async function sameFiles(worktree: Worktree, bases: readonly string[]): Promise<boolean | null> {
  for (const base of bases) {
    const began = await askGit("read", ["merge-base", "HEAD", base], { worktree });
    if (began === null) continue;
    const changed = await filesBetween(worktree, began, "HEAD");
    const different = new Set(await filesBetween(worktree, base, "HEAD"));
    if (changed.every((file) => !different.has(file))) return true;
  }
  return false;
}

async function filesBetween(worktree: Worktree, from: string, to: string): Promise<string[]> {
  const text = await git("read", ["diff-tree", "-r", "--name-only", "-z", ...plain, from, to], {
    worktree,
    encoding: "latin1",
  });
  return text.split("\0").filter((name) => name !== "");
}

/** Null if there is too much to compare. */
async function samePatch(
  worktree: Worktree,
  bases: readonly string[],
  ahead: readonly Commit[],
): Promise<boolean | null> {
  try {
    for (const base of bases) {
      const began = await askGit("read", ["merge-base", "HEAD", base], { worktree });
      if (began === null) continue;
      const range = ["rev-list", `--max-count=${maxBaseCommits}`, "--no-merges", base, `^${began}`];
      const made = new Set(await patchIds(worktree, await git("read", range, { worktree })));
      if (made.size === 0) continue;
      const combined = await git("read", ["diff-tree", "-r", "-p", ...plain, began, "HEAD"], {
        worktree,
        maxBytes: maxPatchBytes,
      });
      const [combinedId] = idsIn(await git("read", ["patch-id", "--stable"], { worktree, input: combined }));
      if (combinedId !== undefined && made.has(combinedId)) return true;
      const each = await patchIds(worktree, ahead.map(({ id }) => `${id}\n`).join(""));
      if (each.length === ahead.length && each.every((id) => made.has(id))) return true;
    }
    return false;
  } catch {
    return null;
  }
}

async function patchIds(worktree: Worktree, commits: string): Promise<string[]> {
  if (commits === "") return [];
  const call = { worktree, maxBytes: maxPatchBytes };
  const patches = await git("read", ["diff-tree", "--stdin", "-r", "-p", "-m", "--root", ...plain], {
    ...call,
    input: commits,
  });
  return idsIn(await git("read", ["patch-id", "--stable"], { ...call, input: patches }));
}

function idsIn(text: string): string[] {
  return text
    .split("\n")
    .filter((each) => each !== "")
    .map((each) => each.split(" ")[0]!);
}
