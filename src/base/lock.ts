/**
 * One holder at a time, by an exclusive lock of SQLite on a file of its own: the kernel frees it at once when the holder
 * dies, and keeps it while the holder is merely stopped. Nothing else may ever open that file, or the lock is dropped.
 */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export interface Lock {
  /** False once the file was removed or replaced: whoever made it anew may hold another one. */
  isOurs(): boolean;
  release(): void;
}

/** Two that ask at the same moment keep each other from it; each then lets go and asks again, until this has passed. */
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
    // Not removed here: another daemon may hold it, and then there would be two.
    throw new Error(`The lock ${path} is damaged. See that no daemon of this home runs, remove it, and start again.`, {
      cause: error,
    });
  }
  const { ino } = statSync(path);
  return { release: () => database.close(), isOurs: () => statSync(path, { throwIfNoEntry: false })?.ino === ino };
}
