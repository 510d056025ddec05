/** Checks the file before anything may write to it: whether it is ours, and whether this version may use it. */
import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { HoldfastError } from "../contract/errors.ts";
import { foreignFile, storageError, type DatabasePaths } from "./failure.ts";

/** "Hold" in ASCII: distinguishes our files from other programs' SQLite files. */
export const applicationId = 0x486f6c64;

/** The database's schema version, 0 for a new one. Throws if it must not be used. */
export function inspectDatabase(paths: DatabasePaths, newestVersion: number): number {
  const { path } = paths;
  if (path === ":memory:") return 0;
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.isFile() && stat.size === 0)) {
    refuseOrphanedLog(paths);
    return 0;
  }
  if (!stat.isFile()) throw foreignFile("is not a file", paths);
  const found = look(paths);
  if (found.application !== applicationId) {
    if (found.application === 0 && found.version === 0 && found.tables === 0) return 0;
    throw foreignFile("is another program's database", paths);
  }
  if (found.version > newestVersion) {
    throw new HoldfastError(
      "storage",
      `The database ${path} was written by a newer Holdfast ` +
        `(its schema is ${found.version}, this one knows ${newestVersion}). Nothing was written to it.`,
      { hint: "Install the newer Holdfast again, or set HOLDFAST_HOME to another directory." },
    );
  }
  return found.version;
}

/**
 * For reading only: without a log the file is complete, and `immutable` keeps SQLite from creating files next to it.
 */
export function untouched(path: string): URL {
  const url = pathToFileURL(path);
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  return url;
}

function look(paths: DatabasePaths): { application: number; version: number; tables: number } {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(untouched(paths.path), { readOnly: true });
    const number = (sql: string): number => Number(Object.values(db?.prepare(sql).get() ?? {})[0]);
    return {
      application: number("PRAGMA application_id"),
      version: number("PRAGMA user_version"),
      tables: number("SELECT count(*) FROM sqlite_schema"),
    };
  } catch (error) {
    throw storageError(error, paths);
  } finally {
    db?.close();
  }
}

/** SQLite would delete the log of a missing database; it may contain the only copy of committed events. */
function refuseOrphanedLog(paths: DatabasePaths): void {
  const log = statSync(`${paths.path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  throw new HoldfastError("storage", `${paths.path} is missing, but its log ${paths.path}-wal exists.`, {
    hint: `Put the database back next to its log (backups: ${paths.backupsDirectory}), or move the log aside.`,
  });
}
