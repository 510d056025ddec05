/**
 * Looks at a repository inside a worktree through a git directory of ours: its HEAD, index, refs and objects, but none of
 * its configuration, attributes or hooks. An agent writes all of those, at any moment, so asking git first which programs
 * they name and then switching them off would be a race.
 */
import { existsSync, lstatSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { crypto } from "../../base/digest.ts";
import type { Context } from "../context.ts";
import { gitDirOf, readHead } from "../git/head.ts";
import { copyRegular, readLine, readText } from "../git/read-regular.ts";
import type { Worktree } from "../record.ts";
import { isInside } from "../git/repository.ts";

/** A worktree to look into, with objects that lie elsewhere than in its git directory. */
export interface View extends Worktree {
  objectDirectory: string;
}

/** Null for what is no repository, or none that lies wholly inside the session's worktree and its directory of git. */
export async function lookInside<T>(
  context: Pick<Context, "worktrees">,
  outer: Worktree,
  path: string,
  look: (view: View) => Promise<T>,
): Promise<T | null> {
  const gitDir = nestedGitDir(outer, path);
  if (gitDir === null) return null;
  const name = `nested-${crypto().randomBytes(6).toString("hex")}`;
  const directory = join(context.worktrees, ".scratch", name);
  mkdirSync(join(directory, "info"), { recursive: true, mode: 0o700 });
  try {
    if (!writeView(directory, gitDir)) return null;
    const { session, objects } = outer;
    const objectDirectory = join(gitDir, "objects");
    return await look({ path, admin: directory, commonDir: directory, session, objects, objectDirectory });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function nestedGitDir(outer: Worktree, path: string): string | null {
  if (!isInside(outer.path, path) || lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return null;
  const gitDir = gitDirOf(path);
  if (gitDir === null || !existsSync(gitDir)) return null;
  // A worktree or a clone of something else would show this session another repository's commits.
  const isOwn = isInside(outer.path, gitDir) || isInside(join(outer.admin, "modules"), gitDir);
  if (!isOwn || existsSync(join(gitDir, "commondir"))) return null;
  return resolve(gitDir);
}

function writeView(directory: string, gitDir: string): boolean {
  const head = readLine(join(gitDir, "HEAD"));
  if (head === null || readHead(gitDir) === null || existsSync(join(gitDir, "reftable"))) return false;
  const isLong = /^\s*objectformat\s*=\s*"?sha256"?\s*$/im.test(readText(join(gitDir, "config")) ?? "");
  const format = isLong ? "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n" : "";
  writeFileSync(join(directory, "config"), `[core]\n\tbare = false\n${format}`);
  writeFileSync(join(directory, "HEAD"), `${head}\n`);
  // Stronger than every `.gitattributes`: no file has a filter, so that the person's own run on nothing either.
  writeFileSync(join(directory, "info", "attributes"), "* !filter !diff !merge\n");
  copyRegular(join(gitDir, "index"), join(directory, "index"));
  copyRegular(join(gitDir, "packed-refs"), join(directory, "packed-refs"));
  if (statSync(join(gitDir, "refs"), { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  symlinkSync(join(gitDir, "refs"), join(directory, "refs"));
  // git takes a directory without this one for no repository, wherever the objects are.
  mkdirSync(join(directory, "objects"));
  return true;
}
