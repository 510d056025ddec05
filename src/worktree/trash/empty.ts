/**
 * The only code that deletes work. Only inside the trash, only what our own record names, and hidden by a rename first;
 * the next call finishes an interrupted one. `git worktree remove` drops the registration: for a missing directory it
 * removes nothing else, and needs no force.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, rmSync, rmdirSync, unlinkSync } from "node:fs";
import { chmod, readdir, rm } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { dropTemporaries } from "../../base/durable-file.ts";
import { HoldfastError } from "../../contract/errors.ts";
import type { Context } from "../context.ts";
import { worktreeInTrash } from "../find-worktree.ts";
import { git } from "../git/git.ts";
import { reach } from "../../base/test-points.ts";
import { readRegistration, samePath } from "../git/repository.ts";
import { unlock, removeRef } from "./trash.ts";
import {
  checkId,
  entryNames,
  hideForEmptying,
  listEmptying,
  noEntry,
  readRecord,
  storeOf,
  treeOf,
  type TrashRecord,
} from "./records.ts";

export async function emptyTrash(context: Context, id: string): Promise<void> {
  checkId(id);
  const directory = join(context.trash, id);
  const leftovers = listEmptying(context.trash);
  const isLeftover = leftovers.some((hidden) => basename(hidden).endsWith(`-${id}`) && readRecord(hidden)?.id === id);
  const record = readRecord(directory);
  if (record === null && !isLeftover) throw noEntry(id);
  if (record !== null) {
    dropTemporaries(join(directory, "entry.json"));
    checkOurs(directory, record, id);
    leftovers.push(hideForEmptying(context.trash, id));
    await reach("workspace.empty.hidden");
  }
  for (const hidden of leftovers) await finishEmptying(context, hidden);
}

async function finishEmptying(context: Context, hidden: string): Promise<void> {
  const record = readRecord(hidden);
  if (record === null) {
    // The record is removed last: without one only an empty directory can remain.
    if (readdirSync(hidden).length === 0) rmdirSync(hidden);
    return;
  }
  checkNoMounts(hidden);
  await unregister(context, record);
  await reach("workspace.empty.unregistered");
  await removeRef(record);
  await reach("workspace.empty.unpinned");
  await removeTree(join(hidden, "tree"));
  rmSync(storeOf(context.trash, basename(hidden)), { recursive: true, force: true });
  await reach("workspace.empty.deleted");
  unlinkSync(join(hidden, "entry.json"));
  rmdirSync(hidden);
}

async function unregister(context: Context, record: TrashRecord): Promise<void> {
  const tree = treeOf(context.trash, record.id);
  const worktree = worktreeInTrash(record, tree);
  if (worktree === null || !existsSync(worktree.admin)) return;
  const { admin, commonDir } = worktree;
  const registration = readRegistration(admin);
  // The registration may belong to another worktree by now: never touch one that exists.
  if (registration === null || !samePath(registration.path, tree) || existsSync(tree)) return;
  unlock({ ...record, lockedBefore: null });
  await git("write", ["worktree", "remove", tree], { gitDir: commonDir });
}

function checkOurs(directory: string, record: TrashRecord, id: string): void {
  const names = readdirSync(directory);
  const isOurs = lstatSync(directory).isDirectory() && record.id === id;
  const strange = names.find((name) => !entryNames.includes(name));
  if (isOurs && strange === undefined) return;
  throw new HoldfastError(
    "conflict",
    `${directory} was not emptied: Holdfast did not create ${strange ?? "its contents"}.`,
    {
      hint: "Check it, and move away what you need.",
    },
  );
}

/** Deleting through a mount would empty another disk. */
function checkNoMounts(directory: string): void {
  if (process.platform !== "linux") return;
  const below = realpathSync(directory) + sep;
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  // The mount point is the fifth field, with spaces written in octal.
  const decode = (field: string): string =>
    field.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
  const mounted = mounts.map((line) => decode(line.split(" ")[4] ?? "")).find((point) => point.startsWith(below));
  if (mounted === undefined) return;
  throw new HoldfastError("conflict", `The trash was not emptied: something is mounted at ${mounted}.`, {
    hint: "Unmount it and try again.",
  });
}

async function removeTree(tree: string): Promise<void> {
  try {
    await rm(tree, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    // Package caches have read-only directories.
    await makeWritable(tree);
    await rm(tree, { recursive: true, force: true });
  }
}

async function makeWritable(directory: string): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(directory, entry.name));
  }
}
