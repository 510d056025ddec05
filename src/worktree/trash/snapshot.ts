/**
 * A commit of all files (staged, unstaged, untracked; not ignored), made with a temporary index: the worktree's own
 * index is unchanged, and bytes are stored raw, without filters. Its first parent is HEAD; a second one has what was
 * staged. It is in a separate repository that borrows the other objects: in your own, `git push --mirror` would publish
 * files that were never committed.
 */
import { lstatSync, mkdirSync, readlinkSync, rmSync, writeFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { git, quoteInList, runGit, type GitCall, nullId } from "../git/git.ts";
import type { Change, Findings } from "../changes/inspect.ts";
import { copyRegular, writeConfig } from "../git/git-files.ts";
import type { Worktree } from "../record.ts";
import { isInside } from "../git/repository.ts";

export interface SnapshotRequest {
  worktree: Worktree;
  found: Findings;
  /** Our own directory for the temporary index. */
  scratch: string;
  /** Where the repository with the snapshot is created. */
  store: string;
  message: string;
}

/** Larger files are only moved: storing them twice could fill the disk during a kill. */
export const maxFileBytes = 256 * 1024 * 1024;
const snapshotDeadlineMs = 10 * 60_000;

/** The branch of the snapshot in its repository. */
export const snapshotBranch = "snapshot";

/** The snapshot, with its repository at `store`; null if nothing differs from HEAD. */
export async function takeSnapshot(request: SnapshotRequest): Promise<string | null> {
  const { found, scratch, worktree, store } = request;
  if (found.changes.length === 0) return null;
  for (const directory of [scratch, store]) rmSync(directory, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  try {
    const index = join(scratch, "index");
    copyRegular(join(worktree.admin, "index"), index);
    const env = { GIT_INDEX_FILE: index, ...makeStore(store, worktree) };
    const call: Call = { admin: worktree, env, deadlineMs: snapshotDeadlineMs };
    const head = found.head === null ? [] : ["-p", found.head];
    const staged = await commitStaged(found, call, head);
    const lines = await storeFiles(request, call);
    await git("write", ["update-index", "-z", "--index-info"], { ...call, input: lines });
    const tree = (await git("write", ["write-tree"], call)).trim();
    const parents = [...head, ...(staged === null ? [] : ["-p", staged])];
    const commit = (await git("write", ["commit-tree", "-m", request.message, ...parents, tree], call)).trim();
    finishStore(store, commit);
    return commit;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

type Call = Required<Pick<GitCall, "admin" | "env" | "deadlineMs">>;

/** Like `git init --bare`, without your template. Returns the environment that makes git write into it. */
function makeStore(store: string, { commonDir, objects }: Worktree): Record<string, string> {
  for (const name of ["objects/info", "objects/pack", "refs/heads"]) {
    mkdirSync(join(store, name), { recursive: true, mode: 0o700 });
  }
  const borrowed = [join(commonDir, "objects"), ...(objects === null ? [] : [objects])];
  writeFileSync(join(store, "objects/info/alternates"), borrowed.map((path) => `${path}\n`).join(""));
  return {
    GIT_OBJECT_DIRECTORY: join(store, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: borrowed.map(quoteInList).join(":"),
  };
}

function finishStore(store: string, commit: string): void {
  writeConfig(store, { isBare: true, isLong: commit.length === 64 });
  writeFileSync(join(store, "refs/heads", snapshotBranch), `${commit}\n`);
  writeFileSync(join(store, "HEAD"), `ref: refs/heads/${snapshotBranch}\n`);
}

async function commitStaged(found: Findings, call: Call, head: string[]): Promise<string | null> {
  if (!found.changes.some((change) => change.staged && change.is === "tracked")) return null;
  // An index with conflicts cannot be written as a tree; the move keeps it.
  const tree = await runGit("write", ["write-tree"], call);
  if (tree.code !== 0) return null;
  const args = ["commit-tree", "-m", "holdfast: what was staged", ...head, tree.stdout.trim()];
  return (await git("write", args, call)).trim();
}

/** Stores changed files as blobs. Returns the lines that add them to the index, in git's byte-exact form. */
async function storeFiles({ worktree, found, scratch }: SnapshotRequest, call: Call): Promise<Buffer> {
  const { path } = worktree;
  const lines: string[] = [];
  const none = await nullId({ admin: worktree }, found.head);
  const files: { mode: string; name: string; source: string }[] = [];
  const leadsOut = new Map<string, boolean>();
  for (const change of found.changes) {
    if (!change.unstaged || change.submodule) continue;
    const parent = change.path.slice(0, Math.max(change.path.lastIndexOf("/"), 0));
    const directory = join(path, Buffer.from(parent, "latin1").toString());
    if (!leadsOut.has(parent)) leadsOut.set(parent, parent !== "" && !isInside(path, directory));
    const file = Buffer.from(`${Buffer.from(path).toString("latin1")}/${change.path}`, "latin1");
    // A directory replaced by a link: files behind it are not part of this worktree.
    const stat = leadsOut.get(parent) === true ? undefined : lstatSync(file, { throwIfNoEntry: false });
    const kind = storable(change, stat);
    if (kind === "gone") lines.push(`0 ${none}\t${change.path}\0`);
    if (kind === "left-out" || kind === "gone") continue;
    if (change.is === "unmerged") lines.push(`0 ${none}\t${change.path}\0`);
    let source = file.toString("latin1");
    if (kind === "120000") {
      // git would follow the link; store its target as a blob.
      const stand = join(scratch, `link-${files.length}`);
      writeFileSync(stand, readlinkSync(file, { encoding: "buffer" }));
      source = Buffer.from(stand).toString("latin1");
    }
    files.push({ mode: kind, name: change.path, source });
  }
  const input = Buffer.from(files.map(({ source }) => `${quote(source)}\n`).join(""), "latin1");
  const args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
  const ids = files.length === 0 ? "" : await git("write", args, { ...call, input });
  for (const [index, id] of ids.trimEnd().split("\n").entries()) {
    const file = files[index];
    if (file !== undefined) lines.push(`${file.mode} ${id}\t${file.name}\0`);
  }
  return Buffer.from(lines.join(""), "latin1");
}

function storable(change: Change, stat: Stats | undefined): "gone" | "left-out" | "100644" | "100755" | "120000" {
  if (stat === undefined) return "gone";
  if (stat.isSymbolicLink()) return "120000";
  // A nested repository, a directory in place of a file, a pipe: only moved.
  if (!stat.isFile()) return change.is === "untracked" ? "left-out" : "gone";
  if (stat.size > maxFileBytes) return "left-out";
  return (stat.mode & 0o100) === 0 ? "100644" : "100755";
}

/** `--stdin-paths` reads one path per line; quoted as git does if it contains a newline or starts with a quote. */
function quote(path: string): string {
  if (!path.includes("\n") && !path.startsWith('"')) return path;
  const escaped = path.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`);
  return `"${escaped}"`;
}
