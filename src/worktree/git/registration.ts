/** Finishes or takes away what a git that was cut off left half registered. */
import { existsSync, realpathSync, unlinkSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { writeAtomically } from "../../base/durable-file.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { HoldfastError } from "../../contract/error.ts";
import { git, gitFailed, runGit } from "./git.ts";
import { isCheckedOut } from "../marker.ts";
import { isNullId, nullId } from "./object-ids.ts";
import { readLine } from "./read-regular.ts";
import { clearLeftover, readRegistration, samePath, type Repository } from "./repository.ts";

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
