/**
 * One daemon per home, by an exclusive SQLite lock on a separate file: the kernel releases it immediately when the holder
 * dies, and keeps it while the holder is merely stopped. Nothing else may ever open that file, or the lock is dropped.
 */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** The database setting that names its home. */
export const homeIdentitySetting = "home.identity";

/** For a home in another directory than before: `start` refuses it, and `doctor` reports it. */
export function homeMismatch(before: string, now: string): { message: string; hint: string } {
  return {
    message: `This home was last started in ${before}; now it is in ${now}. Was it moved or copied?`,
    hint: [
      "If you moved it: holdfast start --moved",
      "If it is a copy: holdfast start --copied (its sessions stay with the original; the copy keeps their transcripts)",
    ].join("\n"),
  };
}

export interface Lock {
  /** False once the file was removed or replaced: another process may hold a lock on the new file. */
  isOurs(): boolean;
  release(): void;
}

/** Two processes that try at the same moment block each other; each retries for this long. */
const contendedMs = 500;

/** Null when another process holds it. */
export function acquireLock(path: string, waitMs = contendedMs): Lock | null {
  const database = new DatabaseSync(path, { timeout: waitMs });
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    const { message } = error as Error;
    if (/locked|busy/i.test(message)) return null;
    if (!/not a database|malformed/i.test(message)) throw error;
    // Not deleted here: another daemon may hold it, and then two would run.
    throw new Error(
      `The lock ${path} is corrupted. Make sure no daemon is using this home, delete the file, and start again.`,
      {
        cause: error,
      },
    );
  }
  const { ino } = statSync(path);
  return { release: () => database.close(), isOurs: () => statSync(path, { throwIfNoEntry: false })?.ino === ino };
}
