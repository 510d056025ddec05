/** Which files of a worktree differ from its base, where, and by how much. */
import type { Against } from "../../ports/worktree.ts";
import type { ChangedFileJson, ChangesJson } from "../../contract/worktree.ts";
import { compare, diffArguments, type Comparison } from "./compare.ts";
import type { Context } from "../context.ts";
import { git } from "../git/git.ts";
import type { Change } from "./inspect.ts";
import type { Worktree } from "../record.ts";

/** More than a user reads; the patch contains them all, up to its own limit. */
const maxFiles = 5_000;

export async function readChanges(
  context: Pick<Context, "worktrees">,
  worktree: Worktree,
  against: Against,
): Promise<ChangesJson> {
  return await compare(context, worktree, against, async (comparison) => {
    const [differing, committed] = await Promise.all([listDiffering(comparison), listCommitted(comparison)]);
    const files = describe(differing, committed, comparison.changes);
    const { base, mergeBase, head } = comparison;
    return { base, mergeBase, head, files: files.slice(0, maxFiles), truncated: files.length > maxFiles };
  });
}

/** Paths are latin1, one character per byte. */
export interface Differing {
  path: string;
  oldPath: string | null;
  letter: string;
  additions: number;
  deletions: number;
  binary: boolean;
}

export async function listDiffering({ from, call }: Comparison): Promise<Differing[]> {
  return parseDiffering(await git("read", [...diffArguments, "--raw", "--numstat", "-z", from, "--"], call));
}

async function listCommitted({ mergeBase, head, from, call }: Comparison): Promise<Set<string>> {
  if (head === null || head === mergeBase) return new Set();
  const names = await git("read", [...diffArguments, "--no-renames", "--name-only", "-z", from, head, "--"], call);
  return new Set(names.split("\0").filter((name) => name !== ""));
}

/** First every `:mode mode id id letter\0path\0`, then every `added\tdeleted\tpath\0`; a rename has two paths in both. */
export function parseDiffering(text: string): Differing[] {
  const fields = text.split("\0");
  const found = new Map<string, Differing>();
  for (let at = 0; at < fields.length - 1;) {
    const field = fields[at++]!;
    if (field.startsWith(":")) {
      const letter = field.slice(field.lastIndexOf(" ") + 1)[0] ?? "M";
      const oldPath = letter === "R" ? fields[at++]! : null;
      const path = fields[at++]!;
      found.set(path, { path, oldPath, letter, additions: 0, deletions: 0, binary: false });
      continue;
    }
    const [added = "", deleted = "", ...rest] = field.split("\t");
    const named = rest.join("\t");
    if (named === "") at++;
    const entry = found.get(named === "" ? fields[at++]! : named);
    if (entry === undefined) continue;
    // Both are a dash if git considers the content binary.
    entry.binary = added === "-";
    entry.additions = Number(added) || 0;
    entry.deletions = Number(deleted) || 0;
  }
  return [...found.values()];
}

const statuses: Record<string, ChangedFileJson["status"]> = { A: "added", D: "deleted", R: "renamed" };

function describe(
  differing: readonly Differing[],
  committed: ReadonlySet<string>,
  changes: readonly Change[],
): ChangedFileJson[] {
  const uncommitted = new Map(changes.map((change) => [change.path, change]));
  const files = differing.map((file): ChangedFileJson => {
    const names = file.oldPath === null ? [file.path] : [file.path, file.oldPath];
    const found = names.flatMap((name) => uncommitted.get(name) ?? []);
    const here = uncommitted.get(file.path);
    const areas: ChangedFileJson["areas"] = [
      ...(names.some((name) => committed.has(name)) ? (["committed"] as const) : []),
      ...(found.some((change) => change.staged) ? (["staged"] as const) : []),
      ...(found.some((change) => change.unstaged && change.is !== "untracked") ? (["unstaged"] as const) : []),
      ...(here?.is === "untracked" ? (["untracked"] as const) : []),
    ];
    const plain = statuses[file.letter] ?? "modified";
    return {
      path: readable(file.path),
      oldPath: file.oldPath === null ? null : readable(file.oldPath),
      status:
        here?.is === "unmerged" ? "conflicted" : here?.is === "untracked" && plain === "added" ? "untracked" : plain,
      areas,
      additions: file.additions,
      deletions: file.deletions,
      binary: file.binary,
    };
  });
  // Nested repositories: git shows only that they exist.
  const nested = changes.filter((change) => change.is === "untracked" && change.path.endsWith("/"));
  const none = { oldPath: null, additions: 0, deletions: 0, binary: false };
  return [
    ...files,
    ...nested.map(({ path }): ChangedFileJson => {
      return { path: readable(path), status: "untracked", areas: ["untracked"], ...none };
    }),
  ];
}

/** A name that is not UTF-8 is shown with replacement characters. */
export function readable(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}
