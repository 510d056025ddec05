/**
 * Facts for the question whether a worktree's commits are in its base by content: what a squash or a rebase makes of them
 * has other names. Plumbing only: no merge, no filter, no driver of the repository runs, and nothing is written.
 */
import type { LandingFacts, LandingQuestion } from "../ports/workspace.ts";
import { askGit, git, runGit } from "./git.ts";

/** More than a person reads, and more than a branch of one session has. */
const maxCommits = 100;
/** A base that moved further than this since the branch began is not searched for a squash. */
const maxBaseCommits = 400;
const maxPatchBytes = 64 * 1024 * 1024;
const plain = ["--no-ext-diff", "--no-textconv", "--no-renames", "--no-color"];

export async function readLanding(question: LandingQuestion): Promise<LandingFacts> {
  const { path, defaultBranch } = question;
  const bases = await existing(path, [
    `refs/remotes/origin/${defaultBranch}`,
    `refs/heads/${defaultBranch}`,
    ...(question.mergeCommit === null ? [] : [question.mergeCommit]),
  ]);
  const heads = await existing(path, question.heads);
  const ahead = await commitsOf(path, bases);
  const behindNoHead = heads.length === 0 ? ahead : await commitsOf(path, [...bases, ...heads]);
  const facts = { ahead: ahead.map(line), behindNoHead: behindNoHead.map(line) };
  if (behindNoHead.length === 0 || bases.length === 0) return { ...facts, sameFiles: null, samePatch: null };
  return { ...facts, sameFiles: await sameFiles(path, bases), samePatch: await samePatch(path, bases, ahead) };
}

/** Whether the worktree's HEAD has this commit and where it began does not: then it is the session's own. */
export async function isOwnCommit(path: string, commit: string, base: string): Promise<boolean> {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return false;
  if ((await existing(path, [commit])).length === 0) return false;
  const isAncestor = async (of: string): Promise<boolean> =>
    (await runGit(["merge-base", "--is-ancestor", commit, of], { cwd: path })).code === 0;
  return (await isAncestor("HEAD")) && !(/^[0-9a-f]{40,64}$/.test(base) && (await isAncestor(base)));
}

interface Commit {
  id: string;
  text: string;
}

const line = ({ text }: Commit): string => text;

/** Names that the repository has, as commits; an id that was never fetched is left out. */
async function existing(path: string, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    names.map((name) =>
      askGit(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`], { cwd: path }),
    ),
  );
  return [...new Set(found.filter((commit) => commit !== null))];
}

async function commitsOf(path: string, without: readonly string[]): Promise<Commit[]> {
  const args = [
    "rev-list",
    `--max-count=${maxCommits}`,
    "--no-commit-header",
    "--format=%H %h %s",
    "HEAD",
    "--not",
    ...without,
  ];
  // A failure is thrown: an empty answer would mean that nothing is left to be merged.
  const text = await git(args, { cwd: path });
  return text
    .split("\n")
    .filter((each) => each !== "")
    .map((each) => ({ id: each.slice(0, each.indexOf(" ")), text: stripControls(each.slice(each.indexOf(" ") + 1)) }));
}

async function sameFiles(path: string, bases: readonly string[]): Promise<boolean | null> {
  for (const base of bases) {
    const began = await askGit(["merge-base", "HEAD", base], { cwd: path });
    if (began === null) continue;
    const changed = await filesBetween(path, began, "HEAD");
    const different = new Set(await filesBetween(path, base, "HEAD"));
    if (changed.every((file) => !different.has(file))) return true;
  }
  return false;
}

async function filesBetween(path: string, from: string, to: string): Promise<string[]> {
  const text = await git(["diff-tree", "-r", "--name-only", "-z", ...plain, from, to], {
    cwd: path,
    encoding: "latin1",
  });
  return text.split("\0").filter((name) => name !== "");
}

/** Null where there is too much of it to tell. */
async function samePatch(path: string, bases: readonly string[], ahead: readonly Commit[]): Promise<boolean | null> {
  try {
    for (const base of bases) {
      const began = await askGit(["merge-base", "HEAD", base], { cwd: path });
      if (began === null) continue;
      const range = ["rev-list", `--max-count=${maxBaseCommits}`, "--no-merges", base, `^${began}`];
      const made = new Set(await patchIds(path, await git(range, { cwd: path })));
      if (made.size === 0) continue;
      const whole = await git(["diff-tree", "-r", "-p", ...plain, began, "HEAD"], {
        cwd: path,
        maxBytes: maxPatchBytes,
      });
      const [wholeId] = idsIn(await git(["patch-id", "--stable"], { cwd: path, input: whole }));
      if (wholeId !== undefined && made.has(wholeId)) return true;
      const each = await patchIds(path, ahead.map(({ id }) => `${id}\n`).join(""));
      if (each.length === ahead.length && each.every((id) => made.has(id))) return true;
    }
    return false;
  } catch {
    return null;
  }
}

async function patchIds(path: string, commits: string): Promise<string[]> {
  if (commits === "") return [];
  const call = { cwd: path, maxBytes: maxPatchBytes };
  const patches = await git(["diff-tree", "--stdin", "-r", "-p", "-m", "--root", ...plain], {
    ...call,
    input: commits,
  });
  return idsIn(await git(["patch-id", "--stable"], { ...call, input: patches }));
}

function idsIn(text: string): string[] {
  return text
    .split("\n")
    .filter((each) => each !== "")
    .map((each) => each.split(" ")[0]!);
}

function stripControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- a commit's subject is anybody's text
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
