/**
 * Trash entries: `<trash>/<id>/entry.json` and `<trash>/<id>/tree`. The record is written before the tree is moved; the
 * tree's existence is the state. Hidden names are being emptied or were restored, and are not listed.
 */
import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { dropTemporaries, readJson, syncDirectory, temporariesIn, writeDurable } from "../../base/durable-file.ts";
import { HoldfastError } from "../../contract/errors.ts";
import { asTrashId, type TrashId } from "../../contract/ids.ts";
import type { TrashEntry } from "../../ports/worktree.ts";
import { samePath } from "../git/repository.ts";

export interface TrashRecord extends TrashEntry {
  version: 1;
  /** git's own directory for the worktree; null if git did not know it. */
  admin: string | null;
  commonDir: string | null;
  head: string | null;
  /** The commit with the files: in the entry's own repository, or in yours for an entry of an earlier build. */
  snapshot: string | null;
  /** See `Worktree`. */
  objects?: string | null;
  /** The user's own lock, which restore puts back. */
  lockedBefore: string | null;
}

const idPattern = /^[a-z0-9][a-z0-9-]{0,120}$/;
const storeName = "files.git";
const restoredPrefix = ".restored-";
const emptyingPrefix = ".emptying-";

export function newTrashId(session: string, now: number): TrashId {
  return asTrashId(`${session}-${Math.floor(now / 1000).toString(36)}-${randomBytes(2).toString("hex")}`);
}

export const treeOf = (trash: string, id: string): string => join(trash, id, "tree");
/** The repository with the snapshot of the files. */
export const storeOf = (trash: string, id: string): string => join(trash, id, storeName);
/** The names that an entry's directory may contain. */
export const entryNames = ["entry.json", "tree", storeName];
export const hasTree = (trash: string, id: string): boolean => existsSync(treeOf(trash, id));

/** Ids come from users; an invalid one must never become a path. */
export function checkId(id: string): void {
  if (!idPattern.test(id)) throw noEntry(id);
}

export function noEntry(id: string): HoldfastError {
  return new HoldfastError("not-found", `Trash entry ${JSON.stringify(id)} does not exist.`, {
    hint: "List entries: holdfast trash ls",
  });
}

export function writeRecord(trash: string, record: TrashRecord): void {
  mkdirSync(join(trash, record.id), { recursive: true, mode: 0o700 });
  writeDurable(join(trash, record.id, "entry.json"), `${JSON.stringify(record, null, 2)}\n`);
  syncDirectory(trash);
}

export function readRecord(directory: string): TrashRecord | null {
  const read = readJson(join(directory, "entry.json"));
  if (read.is !== "known") return null;
  const value = read.value as Partial<TrashRecord> | null;
  const isOurs = value?.version === 1 && typeof value.id === "string" && typeof value.path === "string";
  return isOurs ? (value as TrashRecord) : null;
}

/** Everything in the trash; empty before it exists. */
export const namesIn = (trash: string): string[] => (existsSync(trash) ? readdirSync(trash) : []);

/** All readable records, oldest first, including those without a tree. */
export function readRecords(trash: string, beginning = ""): TrashRecord[] {
  const names = namesIn(trash).filter((name) => idPattern.test(name) && name.startsWith(beginning));
  const found = names.flatMap((name) => readRecord(join(trash, name)) ?? []);
  return found.sort((a, b) => a.trashedAt - b.trashedAt);
}

export function findRecord(trash: string, session: string, path: string): TrashRecord | null {
  const fits = (record: TrashRecord): boolean => record.session === session && samePath(record.path, path);
  // Ids start with the session: no need to read all of the trash for every kill.
  return readRecords(trash, `${session}-`).findLast(fits) ?? null;
}

/** Hides a record without a tree; a repeated `restore` still finds where it went. */
export function hideRestored(trash: string, id: string): void {
  rmSync(storeOf(trash, id), { recursive: true, force: true });
  renameSync(join(trash, id), join(trash, restoredPrefix + id));
}

export function readRestored(trash: string, id: string): TrashRecord | null {
  return readRecord(join(trash, restoredPrefix + id));
}

export function hideForEmptying(trash: string, id: string): string {
  const hidden = join(trash, emptyingPrefix + id);
  renameSync(join(trash, id), hidden);
  syncDirectory(trash);
  return hidden;
}

export function listEmptying(trash: string): string[] {
  const names = namesIn(trash).filter((name) => name.startsWith(emptyingPrefix));
  return names.map((name) => join(trash, name));
}

/** Removes a record without a tree. */
export function dropRecord(trash: string, id: string): void {
  const record = join(trash, id, "entry.json");
  dropTemporaries(record);
  rmSync(record, { force: true });
  rmSync(storeOf(trash, id), { recursive: true, force: true });
  rmdirSync(join(trash, id));
}

/** Removes entries without a record: a crash during its write leaves a directory without a tree. */
export function dropUnwritten(trash: string): void {
  for (const name of namesIn(trash).filter((entry) => idPattern.test(entry))) {
    const directory = join(trash, name);
    if (!lstatSync(directory).isDirectory() || existsSync(join(directory, "entry.json"))) continue;
    const left = temporariesIn(directory, "entry.json");
    if (readdirSync(directory).length === left.length) dropRecord(trash, name);
  }
}

/** Records of finished restores are kept as long as trashed worktrees. */
export function forgetRestored(trash: string, before: number): void {
  for (const name of namesIn(trash).filter((entry) => entry.startsWith(restoredPrefix))) {
    const directory = join(trash, name);
    const stat = lstatSync(directory, { throwIfNoEntry: false });
    if (stat === undefined || stat.mtimeMs > before || hasTree(trash, name)) continue;
    dropRecord(trash, name);
  }
}

export function publicEntry(record: TrashRecord): TrashEntry {
  const { id, session, repository, path, branch, ref, trashedAt, uncommitted, unpushed, note, intent } = record;
  const entry = { id, session, repository, path, branch, ref, trashedAt, uncommitted, unpushed };
  return { ...entry, ...(note === undefined ? {} : { note }), ...(intent === undefined ? {} : { intent }) };
}
