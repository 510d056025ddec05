/** Finishes or takes away what a git that was cut off left half registered. */
import { existsSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../protocol/error.ts";
import { git } from "./git.ts";
import { isCheckedOut } from "./marker.ts";
import { clearLeftover, readRegistration, samePath, type Repository } from "./repository.ts";

export const noCommit = "0".repeat(40);

/** `worktree add` and `worktree move` that were cut off leave a lock, a wrong way back, or no HEAD yet. */
export async function finishRegistration(repository: Repository, admin: string, path: string): Promise<void> {
  // These two are what git itself would have written next.
  if (!existsSync(join(admin, "commondir"))) writeFileSync(join(admin, "commondir"), "../..\n");
  if (!existsSync(join(admin, "HEAD"))) writeFileSync(join(admin, "HEAD"), `${noCommit}\n`);
  const registration = readRegistration(admin);
  if (registration === null || !samePath(registration.path, path)) {
    await git(["worktree", "repair", path], { gitDir: repository.commonDir });
  }
  if (registration?.locked === "initializing") {
    await git(["worktree", "unlock", path], { gitDir: repository.commonDir });
  }
}

/** Removes a registration without a directory. git deletes files only where the worktree exists, and it does not. */
export async function forgetMissing(repository: Repository, admin: string, path: string): Promise<void> {
  const registration = readRegistration(admin);
  const onlyHere = registration?.head?.is === "detached" && registration.head.commit !== noCommit;
  if (isCheckedOut(admin) && onlyHere) {
    throw taken(path, "git still knows a worktree there whose commits may be on no branch");
  }
  if (registration?.locked === "initializing") {
    await git(["worktree", "unlock", path], { gitDir: repository.commonDir });
  }
  clearLeftover(path);
  await git(["worktree", "remove", path], { gitDir: repository.commonDir });
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
