/**
 * Whether a branch's work is in its base, although its commits are not: a squash or a rebase makes new ones. Judged by
 * content, from facts that git gave (worktree/changes/merge-check.ts).
 */

export interface MergeFacts {
  /** Commits of the worktree's HEAD that the base does not have, newest first: `<short id> <subject>`. */
  ahead: string[];
  /** Of these, the ones that no merged pull request's last commit has either. */
  behindNoHead: string[];
  /** Whether every file that the branch changed is the same in the base; null where that could not be told. */
  sameFiles: boolean | null;
  /** Whether one commit of the base makes the very change that the whole branch makes; null where not told. */
  samePatch: boolean | null;
}

export type Landing = { landed: true; by: string } | { landed: false; commits: string[] };

export function judgeLanding(facts: MergeFacts): Landing {
  if (facts.ahead.length === 0) return { landed: true, by: "its base has all of its commits" };
  if (facts.behindNoHead.length === 0) return { landed: true, by: "its merged pull request had all of its commits" };
  if (facts.samePatch === true) return { landed: true, by: "one commit of its base makes the same change" };
  if (facts.sameFiles === true) return { landed: true, by: "its base has the same files" };
  return { landed: false, commits: facts.behindNoHead };
}

/** Commits that are named one by one; of more a count is enough. */
const namedCommits = 5;

/** What only the worktree holds, in sentences; empty when everything is safe elsewhere. */
export function workLeft(work: { uncommitted: number; landing: Landing | null }): string[] {
  const { uncommitted, landing } = work;
  const files = uncommitted === 0 ? [] : [`${uncommitted} uncommitted ${uncommitted === 1 ? "file" : "files"}`];
  if (landing === null || landing.landed) return files;
  const { commits } = landing;
  const named = commits.slice(0, namedCommits).map((line) => `  ${line}`);
  const more = commits.length > namedCommits ? [`  and ${commits.length - namedCommits} more`] : [];
  return [
    ...files,
    `${commits.length} ${commits.length === 1 ? "commit that was" : "commits that were"} not merged:`,
    ...named,
    ...more,
  ];
}
