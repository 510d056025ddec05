/**
 * Checks the database for `doctor` while no daemon runs. Runs in its own process, because the CLI never opens the
 * database; it holds the daemon's lock meanwhile, and writes nothing.
 */
import { realpathSync } from "node:fs";
import { homeIdentitySetting, homeMismatch, acquireLock } from "../base/home-lock.ts";
import type { Paths } from "../base/paths.ts";
import { HoldfastError, messageOf } from "../contract/errors.ts";
import type { FindingJson } from "../contract/daemon.ts";
import { storageError, type DatabasePaths } from "./failure.ts";
import { inspectDatabase, untouched } from "./inspect.ts";
import { migrations } from "./migrations/index.ts";
import { readSetting } from "./registry.ts";
import { Sqlite } from "./sqlite.ts";
import { verifyDatabase } from "./verify.ts";

type CheckedPaths = Pick<Paths, "home" | "database" | "backups" | "lock">;

export function checkDatabase(paths: CheckedPaths): FindingJson {
  try {
    const lock = acquireLock(paths.lock);
    if (lock === null) return found("info", "A daemon is using the database; not checked.");
    try {
      return check({ path: paths.database, backupsDirectory: paths.backups }, realpathSync(paths.home));
    } finally {
      lock.release();
    }
  } catch (error) {
    return found("warn", `Could not check the database: ${messageOf(error)}`);
  }
}

function check(paths: DatabasePaths, home: string): FindingJson {
  const { path, backupsDirectory } = paths;
  let sqlite: Sqlite | undefined;
  try {
    const version = inspectDatabase(paths, migrations.length);
    if (version === 0) return intact;
    sqlite = new Sqlite(untouched(path), undefined, true);
    // The next start migrates an older schema; until then only SQLite itself can check it.
    const problems = verifyDatabase(sqlite, version === migrations.length);
    if (problems.length === 0) return mismatch(sqlite, home) ?? intact;
    const fix = `Keep a copy of ${path}, and replace it with the newest file of ${backupsDirectory}.`;
    return found("fail", `The database is damaged: ${problems.slice(0, 5).join("; ")}`, fix);
  } catch (error) {
    const failure = storageError(error, paths);
    return found("fail", messageOf(failure), failure instanceof HoldfastError ? failure.hint : null);
  } finally {
    sqlite?.close();
  }
}

/** The next start refuses a home that was moved or copied. */
function mismatch(sqlite: Sqlite, home: string): FindingJson | null {
  const text = readSetting(sqlite, homeIdentitySetting);
  const before = text === null ? home : (JSON.parse(text) as { path: string }).path;
  if (before === home) return null;
  const { message, hint } = homeMismatch(before, home);
  return { ...found("fail", message, hint.replaceAll("\n", "; ")), check: "home" };
}

function found(level: FindingJson["level"], message: string, fix: string | null = null): FindingJson {
  return { check: "database", level, message, fix, fixable: false };
}

const intact = found("ok", "The database is intact.");
