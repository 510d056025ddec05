/**
 * Moves a worktree to the trash by rename: everything in it, ignored files and nested repositories included, comes along.
 * Order: look and count, store a snapshot, write the record, pin, lock, rename, tell git, detach. A crash between any two
 * leaves the worktree either here or there, and the next call goes on.
 */
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { dropTemporaries, writeDurable } from "../../base/durable-file.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError, messageOf } from "../../contract/error.ts";
import type { SessionId, TrashId } from "../../contract/ids.ts";
import type { TrashEntry } from "../../ports/worktree.ts";
import { describeInside, type Inside, othersInside } from "../create/commands.ts";
import type { Context } from "../context.ts";
import { git } from "../git/git.ts";
import { deriveWorktree, findWorktree, worktreeInTrash } from "../find-worktree.ts";
import { readHead, readLine } from "../git/git-files.ts";
import { inspectWorktree, type Findings } from "../changes/inspect.ts";
import { readMarker, forgetWorktree, type Worktree } from "../record.ts";
import { detachHead, writeRef } from "../git/ref-files.ts";
import { reach } from "../../base/test-points.ts";
import { forgetDeleted } from "./put-back.ts";
import { finishPointer, reconnectMoved, writeFor } from "../git/registration.ts";
import { findRepository, isInside } from "../git/repository.ts";
import { takeSnapshot } from "./snapshot.ts";
import {
  dropRecord,
  findRecord,
  hasTree,
  newTrashId,
  publicEntry,
  storeOf,
  treeOf,
  writeRecord,
  type TrashRecord,
} from "./records.ts";

export interface TrashRequest {
  session: SessionId;
  repository: string;
  path: string;
  branch: string;
  intent?: TrashEntry["intent"];
}

export const trashRef = (id: string): string => `refs/holdfast/trash/${id}`;
const unbornRef = (id: string): string => `refs/holdfast/unborn/${id}`;
export const lockReason = (id: string): string => `holdfast trash ${id}`;

/** Null when there is nothing at the path and nothing of it in the trash. */
export async function moveToTrash(context: Context, request: TrashRequest): Promise<TrashEntry | null> {
  const known = findRecord(context.trash, request.session, request.path);
  if (!existsSync(request.path)) {
    if (known === null || !hasTree(context.trash, known.id)) {
      await forgetDeletedQuietly(context, request);
      return null;
    }
    await settle(context, known);
    return publicEntry(known);
  }
  const repository = findRepository(request.repository);
  if (repository !== null) finishPointer(repository.commonDir, request.path);
  // What the commands that made it left there goes; whoever else works in it is named and left alone.
  const worktree = findWorktree(context, request.path) ?? deriveWorktree(context, request.repository, request.path);
  checkMovable(context, request, worktree, await othersInside(request.path));
  const unfinished = known !== null && !hasTree(context.trash, known.id) ? known : null;
  const id = unfinished?.id ?? newTrashId(request.session, context.now());
  context.busyEntries.add(id);
  const { record, plain } = await write(context, request, { id, worktree, old: unfinished }).finally(() =>
    context.busyEntries.delete(id),
  );
  await reach("workspace.trash.entry");
  await pin(record, worktree, plain);
  await reach("workspace.trash.pinned");
  if (record.admin !== null) lock(record.admin, record.id);
  await reach("workspace.trash.locked");
  await move(context, record);
  await reach("workspace.trash.moved");
  await settle(context, record);
  forgetWorktree(context.worktrees, request.path);
  return publicEntry(record);
}

interface Unwritten {
  id: TrashId;
  worktree: Worktree | null;
  /** What an interrupted call wrote. */
  old: TrashRecord | null;
}

async function write(context: Context, request: TrashRequest, entry: Unwritten): Promise<Described> {
  const described = await describe(context, request, entry);
  writeRecord(context.trash, described.record);
  keepSnapshot(context, described.record);
  return described;
}

/** Made beside the entries, so that a crash before the record leaves nothing that looks like one. */
const scratchStore = ({ trash }: Context, id: string): string => join(trash, `.scratch-${id}.git`);

function keepSnapshot(context: Context, { id, snapshot }: TrashRecord): void {
  const [made, kept] = [scratchStore(context, id), storeOf(context.trash, id)];
  // What an unfinished call left has other files than the snapshot that the record names now.
  rmSync(kept, { recursive: true, force: true });
  if (snapshot !== null && existsSync(made)) renameSync(made, kept);
}

/** A registration that stays keeps a branch from others, but must not keep a session from being killed. */
async function forgetDeletedQuietly(context: Context, request: TrashRequest): Promise<void> {
  try {
    await forgetDeleted(request);
  } catch (error) {
    context.log.warn("registration of a deleted worktree stays", { path: request.path, error: messageOf(error) });
  }
}

/** What follows the rename; each step is skipped where git's files already say so. */
export async function settle(context: Context, record: TrashRecord): Promise<void> {
  const worktree = worktreeInTrash(record, treeOf(context.trash, record.id));
  if (worktree === null || !existsSync(worktree.admin)) return;
  const { admin } = worktree;
  reconnectMoved(admin, worktree.path);
  await reach("workspace.trash.repaired");
  const head = readHead(admin);
  // Only HEAD changes: index and files stay what they were, and the branch is free for others.
  if (head?.is === "branch" && head.branch !== unbornRef(record.id)) {
    const why = "holdfast: moved to the trash";
    if (record.head === null) await git("store", ["symbolic-ref", "HEAD", unbornRef(record.id)], { admin: worktree });
    else if (!detachHead(admin, head.branch, record.head, why, context.now())) {
      await git("store", ["update-ref", "--no-deref", "-m", why, "HEAD", record.head], { admin: worktree });
    }
  }
  await reach("workspace.trash.detached");
}

function checkMovable(
  context: Context,
  { session, repository, path }: TrashRequest,
  worktree: Worktree | null,
  inside: readonly Inside[],
): void {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) throw refuse(path, "it is not a directory");
  const root = findRepository(repository)?.root ?? null;
  if (root !== null && isInside(path, root)) throw refuse(path, "it holds the repository itself");
  const owner = worktree === null ? null : (worktree.session ?? markedSession(worktree.admin));
  if (owner !== null && owner !== session) throw refuse(path, `it is the worktree of session ${owner}`);
  if (inside.length > 0) {
    throw new HoldfastError("conflict", `${path} is in use by ${describeInside(inside)}.`, {
      hint: "End the process or let it leave the directory, then try again.",
    });
  }
  mkdirSync(context.trash, { recursive: true, mode: 0o700 });
  if (statSync(context.trash).dev !== stat.dev) throw otherFileSystem(path, context.trash);
}

/** For a worktree of an earlier build: the record has its session, where an agent cannot write. */
function markedSession(admin: string): string | null {
  const marker = readMarker(admin);
  return marker?.is === "ready" ? marker.session : null;
}

interface Described {
  record: TrashRecord;
  /** Whether refs are plain files here. */
  plain: boolean;
}

async function describe(context: Context, request: TrashRequest, { id, worktree, old }: Unwritten): Promise<Described> {
  const { session, repository, path } = request;
  const admin = worktree !== null && existsSync(worktree.admin) ? worktree.admin : null;
  const head = admin === null ? null : readHead(admin);
  const locked = admin === null ? null : readLine(join(admin, "locked"));
  const base: TrashRecord = {
    version: 1,
    id,
    session,
    repository,
    path,
    // After a crash HEAD may already be detached: then the earlier record knows the branch.
    branch: head?.is === "branch" && !head.branch.startsWith("refs/") ? head.branch : (old?.branch ?? null),
    ref: null,
    trashedAt: context.now(),
    ...(request.intent === undefined ? {} : { intent: request.intent }),
    uncommitted: 0,
    unpushed: [],
    admin,
    commonDir: admin === null || worktree === null ? null : worktree.commonDir,
    ...(admin === null || worktree === null || worktree.objects === null ? {} : { objects: worktree.objects }),
    head: null,
    snapshot: null,
    lockedBefore: isOurLock(locked, id, old) ? (old?.lockedBefore ?? null) : locked,
  };
  const uncounted = (note: string): Described => ({ record: { ...base, note }, plain: false });
  if (admin === null || worktree === null)
    return uncounted("git does not know this directory: nothing was counted or pinned.");
  let found: Findings;
  try {
    found = await inspectWorktree(context, worktree);
  } catch (error) {
    // A damaged index must not make a session unkillable; the rename loses nothing.
    context.log.warn("worktree could not be inspected", { path, error: messageOf(error) });
    return uncounted(`What it holds could not be told: ${messageOf(error)}`);
  }
  const { snapshot, note: failed } = await snapshotOrNote(context, base, worktree, found);
  await reach("workspace.trash.snapshot");
  const { uncommitted, unpushed, note: finding } = found.work;
  const note = [finding, failed].filter((text) => text !== undefined && text !== null).join(" ");
  const ref = found.head === null ? null : trashRef(id);
  const more = { uncommitted, unpushed, head: found.head, snapshot, ref, ...(note === "" ? {} : { note }) };
  return { record: { ...base, ...more }, plain: found.plain };
}

/** Empty beside an unfinished record: an earlier build that was killed in the write. Else it is a lock without a reason. */
function isOurLock(locked: string | null, id: string, old: TrashRecord | null): boolean {
  return locked === null || locked === lockReason(id) || (locked === "" && old !== null && old.lockedBefore !== "");
}

async function snapshotOrNote(
  context: Context,
  { id, session, path }: TrashRecord,
  worktree: Worktree,
  found: Findings,
): Promise<{ snapshot: string | null; note: string | null }> {
  const scratch = join(context.trash, `.scratch-${id}`);
  const message = `holdfast: files of ${session}`;
  try {
    const store = scratchStore(context, id);
    return { snapshot: await takeSnapshot({ worktree, found, scratch, store, message }), note: null };
  } catch (error) {
    // Disk full or an unreadable file: the commits are still pinned and the rename needs no space.
    context.log.warn("snapshot failed, only commits are pinned", { path, error: messageOf(error) });
    return { snapshot: null, note: `The files could not be stored as a commit: ${messageOf(error)}` };
  }
}

/** The commits alone: with the files of a snapshot, `git push --mirror` would publish what was never committed. */
async function pin({ ref, head }: TrashRecord, worktree: Worktree | null, plain: boolean): Promise<void> {
  if (ref === null || head === null || worktree === null) return;
  if (plain) writeRef(worktree.commonDir, ref, head);
  else await git("store", ["update-ref", "-m", "holdfast: trash", ref, head], { admin: worktree });
}

/**
 * What `git worktree lock` writes. Between the rename and the repair, and while a trash disk is not mounted, somebody's
 * `git worktree prune` would otherwise drop the index and the rebase state.
 */
function lock(admin: string, id: string): void {
  withPersonalUmask(() => writeDurable(join(admin, "locked"), lockReason(id), 0o666));
}

/** Puts back the lock that was there before ours. */
export function unlock(record: TrashRecord): void {
  if (record.admin === null || !existsSync(record.admin)) return;
  const file = join(record.admin, "locked");
  for (const name of ["locked", "HEAD", "gitdir"]) dropTemporaries(join(record.admin, name));
  const locked = readLine(file);
  if (locked === null || !isOurLock(locked, record.id, record)) return;
  if (record.lockedBefore === null) unlinkSync(file);
  else writeFor(file, record.lockedBefore);
}

async function move(context: Context, record: TrashRecord): Promise<void> {
  try {
    renameSync(record.path, treeOf(context.trash, record.id));
  } catch (error) {
    unlock(record);
    await unpin(record);
    dropRecord(context.trash, record.id);
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EXDEV") throw otherFileSystem(record.path, context.trash);
    throw refuse(record.path, `it could not be moved (${messageOf(error)})`);
  }
}

export async function unpin({ ref, commonDir }: TrashRecord): Promise<void> {
  if (ref === null || commonDir === null || !existsSync(commonDir)) return;
  dropTemporaries(join(commonDir, ref));
  await git("store", ["update-ref", "-d", ref], { gitDir: commonDir });
}

function otherFileSystem(path: string, trash: string): HoldfastError {
  return refuse(
    path,
    `the trash (${dirname(trash)}) is on another file system, and work is moved, never copied and deleted`,
  );
}

function refuse(path: string, why: string): HoldfastError {
  return new HoldfastError("conflict", `${path} was not moved to the trash: ${why}.`, {
    hint: "Nothing was changed. Correct that and try again.",
  });
}
