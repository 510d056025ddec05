/**
 * Our own record of each worktree and its git directory, written when the worktree is created and stored outside it. A
 * session's agent can rewrite `.git` in its worktree, so nothing finds a repository by reading that.
 */
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, existsSync, statSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { writeAtomically, writeDurable } from "../base/durable-file.ts";
import { readText } from "./git/git-files.ts";
import type { WorktreeReady } from "../ports/worktree.ts";

type Marker = { is: "spare"; commit: string } | { is: "ready"; session: string; workspace: WorktreeReady };

const file = (admin: string): string => join(admin, "holdfast.json");

/** Not flushed: after a loss, finished steps are only checked again. */
export function writeMarker(admin: string, marker: Marker): void {
  const temporary = `${file(admin)}.tmp`;
  writeFileSync(temporary, JSON.stringify(marker), { mode: 0o600 });
  renameSync(temporary, file(admin));
}

export function readMarker(admin: string): Marker | null {
  const value = readValue(file(admin)) as Partial<Marker> | null;
  return value?.is === "spare" || value?.is === "ready" ? (value as Marker) : null;
}

/** git writes the index last: without one, the checkout never finished and the worktree was never used. */
export function isCheckedOut(admin: string): boolean {
  return existsSync(join(admin, "index"));
}

export interface Worktree {
  /** Where its files are. */
  path: string;
  /** git's own directory for it: `<commonDir>/worktrees/<name>`. */
  admin: string;
  commonDir: string;
  /** The session it was created for; null if not recorded. */
  session: string | null;
  /** The session's own object directory, read by every call about its worktree. */
  objects: string | null;
}

interface Stored extends Worktree {
  version: 1;
}

/** Records that this process, their only writer, has read or written. */
const known = new Map<string, Worktree>();

export function writeWorktree(worktrees: string, worktree: Worktree): void {
  const { path, admin, commonDir, session, objects } = worktree;
  const file = fileOf(worktrees, path);
  const stored: Stored = { version: 1, path, admin, commonDir, session, objects };
  const text = `${JSON.stringify(stored)}\n`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Without private objects a lost record is derived again from the repository's own list.
  if (objects === null) writeAtomically(file, text);
  else writeDurable(file, text);
  known.set(file, { path, admin, commonDir, session, objects });
}

/** Null if there is no record that this build understands. */
export function readWorktree(worktrees: string, path: string): Worktree | null {
  const file = fileOf(worktrees, path);
  const remembered = known.get(file);
  if (remembered !== undefined) return remembered;
  const worktree = parse(readValue(file) as Partial<Stored> | null, path);
  if (worktree !== null) known.set(file, worktree);
  return worktree;
}

export function forgetWorktree(worktrees: string, path: string): void {
  const file = fileOf(worktrees, path);
  known.delete(file);
  rmSync(file, { force: true });
}

/** Whether `admin` is where git keeps the worktrees of this repository. */
export function isAdminOf(commonDir: string, admin: string): boolean {
  const name = basename(admin);
  return dirname(admin) === join(commonDir, "worktrees") && name !== "" && name !== "." && name !== "..";
}

/** Null if it is not JSON. Not by readJson: an agent may have replaced the file with a pipe. */
function readValue(path: string): unknown {
  try {
    return JSON.parse(readText(path) ?? "null");
  } catch {
    return null;
  }
}

function parse(value: Partial<Stored> | null, path: string): Worktree | null {
  if (value?.version !== 1 || value.path !== path) return null;
  const { admin, commonDir, session = null, objects = null } = value;
  if (typeof admin !== "string" || typeof commonDir !== "string" || !isAbsolute(admin)) return null;
  return isAdminOf(commonDir, admin) ? { path, admin, commonDir, session, objects } : null;
}

function fileOf(worktrees: string, path: string): string {
  const digest = createHash("sha256").update(path).digest("hex").slice(0, 32);
  return join(worktrees, ".records", `${digest}.json`);
}

export function exists(path: string): boolean | "unknown" {
  // Cheaper than a stat: only a directory contains this name.
  if (existsSync(`${path}/.`)) return true;
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return "unknown";
  }
}
