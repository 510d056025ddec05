/**
 * A commit of all files as they are (staged, unstaged, untracked; ignored ones left out), made with a temporary index:
 * the worktree's own index is not touched, and the bytes are stored raw, past every filter. Its first parent is HEAD; a
 * second one holds what was staged.
 */
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { git, runGit } from "./git.ts";
import type { Change, Findings } from "./inspect.ts";
import { nullId } from "./object-ids.ts";

export interface SnapshotRequest {
  path: string;
  admin: string;
  found: Findings;
  /** A directory of our own for the temporary index. */
  scratch: string;
  message: string;
}

/** Larger files are kept by the rename alone: storing them twice could fill the disk in the middle of a kill. */
export const maxFileBytes = 256 * 1024 * 1024;
const snapshotDeadlineMs = 10 * 60_000;

/** HEAD itself when nothing differs from it; null when there is nothing at all. */
export async function takeSnapshot(request: SnapshotRequest): Promise<string | null> {
  const { found, scratch, admin } = request;
  if (found.changes.length === 0) return found.head;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  try {
    const index = join(scratch, "index");
    if (existsSync(join(admin, "index"))) copyFileSync(join(admin, "index"), index);
    const call = { gitDir: admin, env: { GIT_INDEX_FILE: index }, deadlineMs: snapshotDeadlineMs };
    const head = found.head === null ? [] : ["-p", found.head];
    const staged = await commitStaged(found, call, head);
    const lines = await storeFiles(request);
    await git(["update-index", "-z", "--index-info"], { ...call, input: lines });
    const tree = (await git(["write-tree"], call)).trim();
    const parents = [...head, ...(staged === null ? [] : ["-p", staged])];
    return (await git(["commit-tree", "-m", request.message, ...parents, tree], call)).trim();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

type Call = { gitDir: string; env: Record<string, string>; deadlineMs: number };

async function commitStaged(found: Findings, call: Call, head: string[]): Promise<string | null> {
  if (!found.changes.some((change) => change.staged && change.is === "tracked")) return null;
  // An index with conflicts cannot be written as a tree; the rename keeps it as it is.
  const tree = await runGit(["write-tree"], call);
  if (tree.code !== 0) return null;
  return (await git(["commit-tree", "-m", "holdfast: what was staged", ...head, tree.stdout.trim()], call)).trim();
}

/** Writes the changed files as blobs; the lines that put them into the index, in git's own byte-exact form. */
async function storeFiles({ path, found, scratch, admin }: SnapshotRequest): Promise<Buffer> {
  const lines: string[] = [];
  const none = await nullId({ gitDir: admin }, found.head);
  const files: { mode: string; name: string; source: string }[] = [];
  for (const change of found.changes) {
    if (!change.unstaged || change.submodule) continue;
    const file = Buffer.from(`${Buffer.from(path).toString("latin1")}/${change.path}`, "latin1");
    const stat = lstatSync(file, { throwIfNoEntry: false });
    const kind = storable(change, stat);
    if (kind === "gone") lines.push(`0 ${none}\t${change.path}\0`);
    if (kind === "left-out" || kind === "gone") continue;
    if (change.is === "unmerged") lines.push(`0 ${none}\t${change.path}\0`);
    let source = file.toString("latin1");
    if (kind === "120000") {
      // git would follow the link; its target is stored as the blob of a file that holds just that.
      const stand = join(scratch, `link-${files.length}`);
      writeFileSync(stand, readlinkSync(file, { encoding: "buffer" }));
      source = Buffer.from(stand).toString("latin1");
    }
    files.push({ mode: kind, name: change.path, source });
  }
  const input = Buffer.from(files.map(({ source }) => `${quote(source)}\n`).join(""), "latin1");
  const args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
  const ids = files.length === 0 ? "" : await git(args, { gitDir: admin, input, deadlineMs: snapshotDeadlineMs });
  for (const [index, id] of ids.trimEnd().split("\n").entries()) {
    const file = files[index];
    if (file !== undefined) lines.push(`${file.mode} ${id}\t${file.name}\0`);
  }
  return Buffer.from(lines.join(""), "latin1");
}

function storable(change: Change, stat: Stats | undefined): "gone" | "left-out" | "100644" | "100755" | "120000" {
  if (stat === undefined) return "gone";
  if (stat.isSymbolicLink()) return "120000";
  // A nested repository, a directory where a file was, a pipe: kept by the rename.
  if (!stat.isFile()) return change.is === "untracked" ? "left-out" : "gone";
  if (stat.size > maxFileBytes) return "left-out";
  return (stat.mode & 0o100) === 0 ? "100644" : "100755";
}

/** `--stdin-paths` takes a line a path; one with a newline or a leading quote is written as git itself quotes it. */
function quote(path: string): string {
  if (!path.includes("\n") && !path.startsWith('"')) return path;
  const escaped = path.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`);
  return `"${escaped}"`;
}
