/** Looks at the file before anything may write to it: is it ours, and may this version touch it? */
import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { HoldfastError } from "../contract/error.ts";
import { foreignFile, storageError, type DatabasePaths } from "./failure.ts";

/** "Hold" in ASCII: tells our files from other programs' SQLite files. */
export const applicationId = 0x486f6c64;

/** The schema's version of the database at this paths, 0 when there is none yet. Throws when it must not be used. */
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
    throw foreignFile("is a database of another program", paths);
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

/** For one who only reads: without a log the file is complete, and `immutable` keeps SQLite from making files beside it. */
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

/** SQLite would delete the log of a database that is not there; it may hold the only copy of committed events. */
function refuseOrphanedLog(paths: DatabasePaths): void {
  const log = statSync(`${paths.path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return;
  throw new HoldfastError("storage", `${paths.path} is missing, but its log ${paths.path}-wal is there.`, {
    hint: `Put the database back beside its log (backups: ${paths.backupsDirectory}), or move the log aside.`,
  });
}
