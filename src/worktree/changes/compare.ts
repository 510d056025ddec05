/**
 * Compares a worktree with its base: committed, staged, unstaged and untracked changes together. Changes nothing:
 * untracked files and conflicts are added to a copy of the index.
 */
import { utimesSync } from "node:fs";
import { join } from "node:path";
import type { Against } from "../../ports/worktree.ts";
import { inScratch, type Context } from "../context.ts";
import { askGit, git, type GitCall, idLength } from "../git/git.ts";
import type { ConfigEntry } from "../git/git-rules.ts";
import { parseStatus, readStatus, type Change } from "./inspect.ts";
import { copyRegular } from "../git/git-files.ts";
import type { Worktree } from "../record.ts";

export interface Comparison {
  /** The base's name. */
  base: string;
  mergeBase: string | null;
  head: string | null;
  /** The tree to compare the worktree with. */
  from: string;
  /** Uncommitted changes. */
  changes: Change[];
  call: GitCall;
}

/** The user is waiting for it. */
const compareDeadlineMs = 60_000;
/** Larger files are shown as binary: git would load them into memory. */
const bigFile = "8m";

/** No configuration may change the form of a patch or run a program. */
export const diffArguments = [
  "diff",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--submodule=short",
  "--ignore-submodules=dirty",
  "--find-renames",
  "--unified=3",
  "--inter-hunk-context=0",
  "-O/dev/null",
];
const plainDiff: readonly ConfigEntry[] = [
  ["core.quotePath", "false"],
  ["core.bigFileThreshold", bigFile],
  ["core.splitIndex", "false"],
  ["diff.renameLimit", "1000"],
];

/** By length of the object ids. git knows both without storing them. */
const empty: Record<number, { tree: string; blob: string }> = {
  40: { tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", blob: "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" },
  64: {
    tree: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
    blob: "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
  },
};

export async function compare<T>(
  context: Pick<Context, "worktrees">,
  worktree: Worktree,
  against: Against,
  read: (comparison: Comparison) => Promise<T>,
): Promise<T> {
  const { filters, status } = await readStatus(worktree);
  const { head, changes } = parseStatus(status);
  const { base, mergeBase } =
    head === null ? { base: against.base, mergeBase: null } : await findBase(worktree, against);
  const ids = empty[head?.length ?? (await idLength({ worktree }))] ?? empty[40]!;
  const config = [...filters, ...plainDiff];
  const call: GitCall = { worktree, config, encoding: "latin1", deadlineMs: compareDeadlineMs };
  const comparison: Comparison = { base, mergeBase, head, from: mergeBase ?? ids.tree, changes, call };
  const added = changes.filter(isNotInIndex);
  if (added.length === 0) return await read(comparison);
  return await inScratch(context, "compare", async (scratch) => {
    const index = join(scratch, "index");
    copyIndex(join(worktree.admin, "index"), index);
    const withIndex = { ...call, env: { GIT_INDEX_FILE: index } };
    await git("write", ["update-index", "-z", "--index-info"], { ...withIndex, input: indexLines(added, ids.blob) });
    return await read({ ...comparison, call: withIndex });
  });
}

/** A nested repository is listed as a directory and left out. */
function isNotInIndex(change: Change): boolean {
  return change.is === "unmerged" || (change.is === "untracked" && !change.path.endsWith("/"));
}

function indexLines(changes: readonly Change[], blob: string): Buffer {
  const gone = "0".repeat(blob.length);
  const lines = changes.map(({ path, is }) => {
    const entry = `100644 ${blob}\t${path}\0`;
    return is === "unmerged" ? `0 ${gone}\t${path}\0${entry}` : entry;
  });
  return Buffer.from(lines.join(""), "latin1");
}

/** With an earlier modification time: git rereads files that changed at the moment the index was written. */
function copyIndex(from: string, to: string): void {
  const copied = copyRegular(from, to);
  if (copied === null) return;
  const before = Math.floor(copied.modifiedMs / 1000) - 1;
  utimesSync(to, before, before);
}

/**
 * The freshest commit that HEAD shares with the default branch, its remote, or the session's start. After an agent
 * merged the newer default branch, other people's changes there are not shown.
 */
async function findBase(worktree: Worktree, against: Against): Promise<{ base: string; mergeBase: string | null }> {
  const named = against.defaultBranch;
  const candidates = [
    ...(named === null || named === "" ? [] : [named, `origin/${named}`]).map((name) => ({
      name,
      ref: name === named ? `refs/heads/${name}` : `refs/remotes/${name}`,
    })),
    ...(/^[0-9a-f]{40,64}$/.test(against.base) ? [{ name: against.base, ref: against.base }] : []),
  ];
  const found = await Promise.all(
    candidates.map(async ({ name, ref }) => ({
      name,
      commit: await askGit("read", ["merge-base", "HEAD", ref], { worktree }),
    })),
  );
  const shared = found.flatMap(({ name, commit }) => (commit === null || commit === "" ? [] : [{ name, commit }]));
  const commits = [...new Set(shared.map(({ commit }) => commit.split("\n")[0]!))];
  const freshest =
    commits.length < 2 ? commits[0] : await askGit("read", ["merge-base", "--independent", ...commits], { worktree });
  const mergeBase = freshest?.split("\n")[0] ?? null;
  const base = shared.find(({ commit }) => commit.startsWith(mergeBase ?? "-"))?.name ?? against.base;
  return { base, mergeBase };
}
