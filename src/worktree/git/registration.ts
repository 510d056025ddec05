/** Finishes or takes away what a git that was cut off left half registered. */
import { existsSync, realpathSync, unlinkSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, isAbsolute, join, dirname } from "node:path";
import { writeAtomically, dropTemporaries, temporariesIn } from "../../base/durable-file.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError } from "../../contract/error.ts";
import { git, gitFailed, runGit, isNullId, nullId } from "./git.ts";
import { isCheckedOut } from "../record.ts";
import { readLine } from "./git-files.ts";
import { clearLeftover, readRegistration, samePath, type Repository, readRegistrations } from "./repository.ts";
import { crypto } from "../../base/digest.ts";

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

/** `worktree add` and `worktree move` that were cut off leave a lock, a wrong way back, or no HEAD yet. */
export async function finishRegistration(repository: Repository, admin: string, path: string): Promise<void> {
  // These two are what git itself would have written next.
  if (!existsSync(join(admin, "commondir"))) writeFor(join(admin, "commondir"), "../..\n");
  if (!existsSync(join(admin, "HEAD"))) {
    writeFor(join(admin, "HEAD"), `${await nullId({ gitDir: repository.commonDir })}\n`);
  }
  reconnectMoved(admin, path);
  await unlockInitializing(repository, admin, path);
}

/** A file of git's: with the modes that the user's own git would give it. */
export function writeFor(path: string, text: string): void {
  withPersonalUmask(() => writeAtomically(path, text, 0o666));
}

/** Tells git where a worktree is now; nothing to do when it knows. */
export function reconnectMoved(admin: string, path: string): void {
  const registration = readRegistration(admin);
  if (registration === null || !samePath(registration.path, path)) {
    // What `git worktree repair` writes; that also follows whatever `.git` names, which may be somebody else's.
    writeFor(join(admin, "gitdir"), `${join(realpathSync(path), ".git")}\n`);
  }
  const named = readLine(join(path, ".git"))?.replace("gitdir: ", "") ?? null;
  // A relative way does not survive a move. Any other pointer that is not ours stays, and is reported.
  if (named === null || isAbsolute(named) || basename(named) !== basename(admin)) return;
  writeFor(join(path, ".git"), `gitdir: ${admin}\n`);
}

/** A `worktree add` that was cut off leaves its own lock; one that still ends may take it away first. */
async function unlockInitializing(repository: Repository, admin: string, path: string): Promise<void> {
  const isLocked = (): boolean => readRegistration(admin)?.locked === "initializing";
  if (!isLocked()) return;
  const { code, stderr } = await runGit("store", ["worktree", "unlock", path], { gitDir: repository.commonDir });
  if (code !== 0 && isLocked()) throw gitFailed(["worktree", "unlock"], stderr);
}

/** Removes a registration without a directory. git deletes files only where the worktree exists, and it does not. */
export async function forgetMissing(repository: Repository, admin: string, path: string): Promise<void> {
  const registration = readRegistration(admin);
  const onlyHere = registration?.head?.is === "detached" && !isNullId(registration.head.commit);
  if (isCheckedOut(admin) && onlyHere) {
    throw taken(path, "git still knows a worktree there whose commits may be on no branch");
  }
  await unlockInitializing(repository, admin, path);
  clearLeftover(path);
  await git("store", ["worktree", "remove", path], { gitDir: repository.commonDir });
}

/** The lock of a git that was killed; the caller has seen that nobody works there. */
export function releaseIndex(admin: string): void {
  const lock = join(admin, "index.lock");
  if (existsSync(lock)) unlinkSync(lock);
}

export function taken(path: string, why: string): HoldfastError {
  return new HoldfastError("conflict", `${path} cannot be used: ${why}.`, {
    hint: "Move it away, or choose another name for the session.",
  });
}
