/**
 * Registers worktrees in git's documented files, and repairs what an interrupted git left.
 * Writing the files of `git worktree add --no-checkout` directly saves two processes (bench/spawn.ts). Only for
 * repositories in git's plain format (`plain` in filters.ts) and for names that git would use unchanged; git itself
 * registers all others.
 */
import { createHash } from "node:crypto";
import { existsSync, realpathSync, unlinkSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, isAbsolute, join, dirname } from "node:path";
import { writeAtomically, dropTemporaries, temporariesIn } from "../../base/durable-file.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError } from "../../contract/errors.ts";
import { git, gitFailed, runGit, isNullId, nullId } from "./git.ts";
import { isCheckedOut } from "../record.ts";
import { readLine } from "./git-files.ts";
import { clearLeftover, readRegistration, samePath, type Repository, readRegistrations } from "./repository.ts";

const plainName = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

export function canRegister(path: string): boolean {
  return plainName.test(basename(path));
}

/** Returns the worktree's git directory. The caller checked that the path is free and not registered. */
export function writeRegistration(commonDir: string, path: string, branch: string): string {
  return withPersonalUmask(() => write(commonDir, path, branch));
}

function write(commonDir: string, path: string, branch: string): string {
  const making = makingDirectory(commonDir, path);
  const directory = join(realpathSync(dirname(path)), basename(path));
  mkdirSync(making, { recursive: true });
  // Prevents a `git worktree prune` until the pointer exists. git's own reason, so git recognizes a leftover.
  writeFileSync(join(making, "locked"), "initializing");
  writeFileSync(join(making, "gitdir"), `${join(directory, ".git")}\n`);
  writeFileSync(join(making, "commondir"), "../..\n");
  writeFileSync(join(making, "HEAD"), `ref: refs/heads/${branch}\n`);
  const admin = moveIn(making, join(commonDir, "worktrees"), basename(path));
  mkdirSync(directory);
  writePointer(directory, admin);
  unlinkSync(join(admin, "locked"));
  return admin;
}

function writePointer(directory: string, admin: string): void {
  writeAtomically(join(directory, ".git"), `gitdir: ${admin}\n`, 0o666);
}

/**
 * Finishes an interrupted write of the pointer: removes its temporary file, and fills an empty one, which a power cut
 * or a killed earlier build leaves. Only if git has a registration for the path.
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

/** Removes what a crash left before the registration. */
export function dropUnregistered(commonDir: string, path: string): void {
  rmSync(makingDirectory(commonDir, path), { recursive: true, force: true });
}

/** Every git sees it complete or absent. A number is added to a used name, as git does. */
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

/** Named after the complete path: two homes may have sessions of the same name in one repository. */
function makingDirectory(commonDir: string, path: string): string {
  return join(commonDir, `holdfast-${createHash("sha256").update(path).digest("hex").slice(0, 16)}`);
}

/** An interrupted `worktree add` or `worktree move` leaves a lock, a wrong path, or no HEAD. */
export async function finishRegistration(repository: Repository, admin: string, path: string): Promise<void> {
  // git itself would have written these next.
  if (!existsSync(join(admin, "commondir"))) writeFor(join(admin, "commondir"), "../..\n");
  if (!existsSync(join(admin, "HEAD"))) {
    writeFor(join(admin, "HEAD"), `${await nullId({ gitDir: repository.commonDir })}\n`);
  }
  reconnectMoved(admin, path);
  await unlockInitializing(repository, admin, path);
}

/** Writes one of git's files, with the modes that your own git would use. */
export function writeFor(path: string, text: string): void {
  withPersonalUmask(() => writeAtomically(path, text, 0o666));
}

/** Updates git's files after a worktree has moved. */
export function reconnectMoved(admin: string, path: string): void {
  const registration = readRegistration(admin);
  if (registration === null || !samePath(registration.path, path)) {
    // What `git worktree repair` writes; but that also follows `.git`, which may point elsewhere.
    writeFor(join(admin, "gitdir"), `${join(realpathSync(path), ".git")}\n`);
  }
  const named = readLine(join(path, ".git"))?.replace("gitdir: ", "") ?? null;
  // A relative path does not survive a move. Any other foreign pointer stays, and is reported.
  if (named === null || isAbsolute(named) || basename(named) !== basename(admin)) return;
  writeFor(join(path, ".git"), `gitdir: ${admin}\n`);
}

/** An interrupted `worktree add` leaves its own lock; a git that is still running may remove it first. */
async function unlockInitializing(repository: Repository, admin: string, path: string): Promise<void> {
  const isLocked = (): boolean => readRegistration(admin)?.locked === "initializing";
  if (!isLocked()) return;
  const { code, stderr } = await runGit("write", ["worktree", "unlock", path], { gitDir: repository.commonDir });
  if (code !== 0 && isLocked()) throw gitFailed(["worktree", "unlock"], stderr);
}

/** Removes a registration without a directory. git deletes files only if the worktree exists. */
export async function forgetMissing(repository: Repository, admin: string, path: string): Promise<void> {
  const registration = readRegistration(admin);
  const onlyHere = registration?.head?.is === "detached" && !isNullId(registration.head.commit);
  if (isCheckedOut(admin) && onlyHere) {
    throw taken(path, "git has a worktree there whose commits may not be on any branch");
  }
  await unlockInitializing(repository, admin, path);
  clearLeftover(path);
  await git("write", ["worktree", "remove", path], { gitDir: repository.commonDir });
}

/** Removes the lock of a killed git; the caller checked that no process uses the worktree. */
export function releaseIndex(admin: string): void {
  const lock = join(admin, "index.lock");
  if (existsSync(lock)) unlinkSync(lock);
}

export function taken(path: string, why: string): HoldfastError {
  return new HoldfastError("conflict", `${path} cannot be used: ${why}.`, {
    hint: "Move it away, or choose another name for the session.",
  });
}
