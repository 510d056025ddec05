/** Finds files of a worktree by a few letters: tracked ones, and untracked ones that are not ignored. */
import { git } from "../git/git.ts";
import type { Worktree } from "../record.ts";

/** Queried with every keystroke: the list may be this old. */
const keptMs = 3_000;
/** Ranking more for each keystroke would stall the daemon. */
const maxListed = 200_000;
const listDeadlineMs = 20_000;
const maxCached = 4;

const kept = new Map<string, { until: number; list: Promise<string[]> }>();

export async function findFiles(
  worktree: Worktree,
  query: string,
  limit: number,
): Promise<{ files: string[]; truncated: boolean }> {
  const ranked = rankFiles(await listFiles(worktree), query);
  return { files: ranked.slice(0, limit), truncated: ranked.length > limit };
}

async function listFiles(worktree: Worktree): Promise<string[]> {
  const { path } = worktree;
  const now = performance.now();
  for (const [key, { until }] of kept) if (until < now || kept.size > maxCached) kept.delete(key);
  let entry = kept.get(path);
  if (entry === undefined) {
    entry = { until: now + keptMs, list: readList(worktree) };
    entry.list.catch(() => kept.delete(path));
    kept.set(path, entry);
  }
  return await entry.list;
}

async function readList(worktree: Worktree): Promise<string[]> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const text = await git("read", args, { worktree, deadlineMs: listDeadlineMs });
  return text
    .split("\0", maxListed)
    .filter((name) => name !== "")
    .map((name) => (name.endsWith("/") ? name.slice(0, -1) : name));
}

/**
 * Files that contain the query's letters in order. Best first: the file name starts with it, contains it, the path
 * contains it, the name has its letters, the path has them. The shorter path wins a tie.
 */
export function rankFiles(files: readonly string[], query: string): string[] {
  const wanted = query.toLowerCase();
  const found: { path: string; rank: number }[] = [];
  for (const path of files) {
    const rank = rankOf(path.toLowerCase(), wanted);
    if (rank !== null) found.push({ path, rank });
  }
  found.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return found.map(({ path }) => path);
}

function rankOf(path: string, wanted: string): number | null {
  if (wanted === "") return path.split("/").length;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === wanted || path === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  if (name.includes(wanted)) return 2;
  if (path.startsWith(wanted)) return 3;
  if (path.includes(wanted)) return 4;
  if (hasLetters(name, wanted)) return 5;
  return hasLetters(path, wanted) ? 6 : null;
}

function hasLetters(text: string, wanted: string): boolean {
  let at = -1;
  for (const letter of wanted) {
    at = text.indexOf(letter, at + 1);
    if (at < 0) return false;
  }
  return true;
}
