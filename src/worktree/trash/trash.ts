/**
 * Moves a worktree to the trash by rename, with everything in it: ignored files and nested repositories included.
 * Order: inspect, store a snapshot, write the record, create the ref, lock, rename, update git's files, detach. A crash leaves the
 * worktree in one of the two places, and the next call continues.
 */
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { dropTemporaries, writeDurable } from "../../base/durable-file.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError, messageOf } from "../../contract/errors.ts";
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

/** Null if there is nothing at the path and nothing from it in the trash. */
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
  // Leftovers of the commands that created it are stopped; any other process in it makes this fail.
  const worktree = findWorktree(context, request.path) ?? deriveWorktree(context, request.repository, request.path);
  checkMovable(context, request, worktree, await othersInside(request.path));
  const unfinished = known !== null && !hasTree(context.trash, known.id) ? known : null;
  const id = unfinished?.id ?? newTrashId(request.session, context.now());
  context.busyEntries.add(id);
  const { record, plain } = await describe(context, request, { id, worktree, old: unfinished })
    .then((described) => {
      writeRecord(context.trash, described.record);
      keepSnapshot(context, described.record);
      return described;
    })
    .finally(() => context.busyEntries.delete(id));
  await reach("workspace.trash.entry");
  await keepByRef(record, worktree, plain);
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
  /** Written by an interrupted call. */
  old: TrashRecord | null;
}

/** Outside the entries: a crash before the record leaves nothing that resembles an entry. */
const scratchStore = ({ trash }: Context, id: string): string => join(trash, `.scratch-${id}.git`);

function keepSnapshot(context: Context, { id, snapshot }: TrashRecord): void {
  const [made, kept] = [scratchStore(context, id), storeOf(context.trash, id)];
  // An interrupted call left other files than the current snapshot.
  rmSync(kept, { recursive: true, force: true });
  if (snapshot !== null && existsSync(made)) renameSync(made, kept);
}

/** A leftover registration blocks its branch, but must not prevent a kill. */
async function forgetDeletedQuietly(context: Context, request: TrashRequest): Promise<void> {
  try {
    await forgetDeleted(request);
  } catch (error) {
    context.log.warn("cannot drop the registration of a deleted worktree", {
      path: request.path,
      error: messageOf(error),
    });
  }
}

/** The steps after the rename; each is skipped if already done. */
export async function settle(context: Context, record: TrashRecord): Promise<void> {
  const worktree = worktreeInTrash(record, treeOf(context.trash, record.id));
  if (worktree === null || !existsSync(worktree.admin)) return;
  const { admin } = worktree;
  reconnectMoved(admin, worktree.path);
  await reach("workspace.trash.repaired");
  const head = readHead(admin);
  // Only HEAD changes: index and files are unchanged, and the branch is free.
  if (head?.is === "branch" && head.branch !== unbornRef(record.id)) {
    const why = "holdfast: moved to the trash";
    if (record.head === null) await git("write", ["symbolic-ref", "HEAD", unbornRef(record.id)], { admin: worktree });
    else if (!detachHead(admin, head.branch, record.head, why, context.now())) {
      await git("write", ["update-ref", "--no-deref", "-m", why, "HEAD", record.head], { admin: worktree });
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
  if (root !== null && isInside(path, root)) throw refuse(path, "it contains the repository itself");
  // The marker is for a worktree of an earlier build; newer records have the session where an agent cannot write.
  const marker = worktree === null ? null : readMarker(worktree.admin);
  const owner = worktree?.session ?? (marker?.is === "ready" ? marker.session : null);
  if (owner !== null && owner !== session) throw refuse(path, `it is the worktree of session ${owner}`);
  if (inside.length > 0) {
    throw new HoldfastError("conflict", `${path} is in use by ${describeInside(inside)}.`, {
      hint: "Stop the process or change its directory, then try again.",
    });
  }
  mkdirSync(context.trash, { recursive: true, mode: 0o700 });
  if (statSync(context.trash).dev !== stat.dev) throw otherFileSystem(path, context.trash);
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
    // After a crash HEAD may already be detached: the earlier record has the branch.
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
    return uncounted("git does not know this directory: nothing was counted or kept by a ref.");
  let found: Findings;
  try {
    found = await inspectWorktree(context, worktree);
  } catch (error) {
    // A damaged index must not prevent a kill; the rename loses nothing.
    context.log.warn("cannot inspect worktree", { path, error: messageOf(error) });
    return uncounted(`Could not inspect its contents: ${messageOf(error)}`);
  }
  const { snapshot, note: failed } = await snapshotOrNote(context, base, worktree, found);
  await reach("workspace.trash.snapshot");
  const { uncommitted, unpushed, note: finding } = found.work;
  const note = [finding, failed].filter((text) => text !== undefined && text !== null).join(" ");
  const ref = found.head === null ? null : trashRef(id);
  const more = { uncommitted, unpushed, head: found.head, snapshot, ref, ...(note === "" ? {} : { note }) };
  return { record: { ...base, ...more }, plain: found.plain };
}

/** An empty lock next to an unfinished record was left by an earlier build; any other empty lock has no reason. */
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
    // Disk full or an unreadable file: a ref still keeps the commits, and the rename needs no space.
    context.log.warn("snapshot failed, only the commits are kept", { path, error: messageOf(error) });
    return { snapshot: null, note: `Could not store the files as a commit: ${messageOf(error)}` };
  }
}

/** Only the commits: with a snapshot's files, `git push --mirror` would publish what was never committed. */
async function keepByRef({ ref, head }: TrashRecord, worktree: Worktree | null, plain: boolean): Promise<void> {
  if (ref === null || head === null || worktree === null) return;
  if (plain) writeRef(worktree.commonDir, ref, head);
  else await git("write", ["update-ref", "-m", "holdfast: trash", ref, head], { admin: worktree });
}

/**
 * What `git worktree lock` writes. Between the rename and the repair, and while the trash's disk is not mounted, a `git
 * worktree prune` would otherwise drop the index and the rebase state.
 */
function lock(admin: string, id: string): void {
  withPersonalUmask(() => writeDurable(join(admin, "locked"), lockReason(id), 0o666));
}

/** Restores the previous lock, if any. */
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
    await removeRef(record);
    dropRecord(context.trash, record.id);
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EXDEV") throw otherFileSystem(record.path, context.trash);
    throw refuse(record.path, `it cannot be moved (${messageOf(error)})`);
  }
}

export async function removeRef({ ref, commonDir }: TrashRecord): Promise<void> {
  if (ref === null || commonDir === null || !existsSync(commonDir)) return;
  dropTemporaries(join(commonDir, ref));
  await git("write", ["update-ref", "-d", ref], { gitDir: commonDir });
}

function otherFileSystem(path: string, trash: string): HoldfastError {
  return refuse(
    path,
    `the trash (${dirname(trash)}) is on another file system, and work is moved, never copied and deleted`,
  );
}

function refuse(path: string, why: string): HoldfastError {
  return new HoldfastError("conflict", `${path} was not moved to the trash: ${why}.`, {
    hint: "Nothing was changed. Fix the problem and try again.",
  });
}
