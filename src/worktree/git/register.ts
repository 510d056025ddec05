/**
 * Registers a worktree on a branch as `git worktree add --no-checkout` does, by git's documented files: its own
 * directory below `worktrees/` and the pointer at the path. git starts two processes for them, which is a fifth of a
 * small spawn. Only for a repository in git's plain format (`plain` in filters.ts); git itself registers all others.
 */
import { crypto } from "../../base/digest.ts";
import { dropTemporaries, temporariesIn, writeAtomically } from "../../base/durable-file.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { lstatSync, mkdirSync, realpathSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readRegistrations, samePath } from "./repository.ts";

/** Names that git too would take as they are. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

export function canRegister(path: string): boolean {
  return plainName.test(basename(path));
}

/** The worktree's own git directory. The caller has seen that nothing is registered for the path or lies there. */
export function writeRegistration(commonDir: string, path: string, branch: string): string {
  return withPersonalUmask(() => write(commonDir, path, branch));
}

function write(commonDir: string, path: string, branch: string): string {
  const making = makingDirectory(commonDir, path);
  const place = join(realpathSync(dirname(path)), basename(path));
  mkdirSync(making, { recursive: true });
  // Keeps somebody's `git worktree prune` away until the pointer is there; git's own word, so that a leftover is known.
  writeFileSync(join(making, "locked"), "initializing");
  writeFileSync(join(making, "gitdir"), `${join(place, ".git")}\n`);
  writeFileSync(join(making, "commondir"), "../..\n");
  writeFileSync(join(making, "HEAD"), `ref: refs/heads/${branch}\n`);
  const admin = moveIn(making, join(commonDir, "worktrees"), basename(path));
  mkdirSync(place);
  writePointer(place, admin);
  unlinkSync(join(admin, "locked"));
  return admin;
}

function writePointer(place: string, admin: string): void {
  writeAtomically(join(place, ".git"), `gitdir: ${admin}\n`, 0o666);
}

/**
 * Finishes the write of a pointer that was cut off: its temporary file goes, and one that is empty is written. A power cut
 * leaves it empty, and so did an earlier build that was killed there. Only where git has a registration for the path.
 */
export function finishPointer(commonDir: string, path: string): void {
  const pointer = join(path, ".git");
  const stat = lstatSync(pointer, { throwIfNoEntry: false });
  const isEmpty = stat?.isFile() === true && stat.size === 0;
  if (!isEmpty && temporariesIn(path, ".git").length === 0) return;
  const registration = readRegistrations(commonDir).find((one) => samePath(one.path, path));
  if (registration === undefined) return;
  dropTemporaries(pointer);
  if (isEmpty) withPersonalUmask(() => writePointer(path, registration.admin));
}

/** What a crash left before it was registered. */
export function dropUnregistered(commonDir: string, path: string): void {
  rmSync(makingDirectory(commonDir, path), { recursive: true, force: true });
}

/** Whole or not there for every git that looks. A taken name gets a number, as git does it. */
function moveIn(making: string, worktrees: string, name: string): string {
  mkdirSync(worktrees, { recursive: true });
  for (let count = 0; ; count += 1) {
    const admin = join(worktrees, count === 0 ? name : `${name}${count}`);
    try {
      renameSync(making, admin);
      return admin;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    }
  }
}

/** Two homes may have sessions of one name in one repository, so it is named after the whole path. */
function makingDirectory(commonDir: string, path: string): string {
  return join(commonDir, `holdfast-${crypto().createHash("sha256").update(path).digest("hex").slice(0, 16)}`);
}
