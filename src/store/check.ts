/**
 * The database looked at while no daemon runs, for `doctor`. Run by a program of its own, because the command line never
 * opens the database; it holds the daemon's lock meanwhile, and writes nothing.
 */
import { realpathSync } from "node:fs";
import { homeIdentitySetting, homeMismatch, acquireLock } from "../base/home-lock.ts";
import type { Paths } from "../base/paths.ts";
import { HoldfastError, messageOf } from "../contract/error.ts";
import type { FindingJson } from "../contract/wire.ts";
import { storageError, type Place } from "./failure.ts";
import { inspectDatabase, untouched } from "./inspect.ts";
import { migrations } from "./migrations/index.ts";
import { readSetting } from "./registry.ts";
import { Sqlite } from "./sqlite.ts";
import { verifyDatabase } from "./verify.ts";

type CheckedPaths = Pick<Paths, "home" | "database" | "backups" | "lock">;

export function checkDatabase(paths: CheckedPaths): FindingJson {
  try {
    const lock = acquireLock(paths.lock);
    if (lock === null) return found("info", "A daemon is just using the database; it was not looked at.");
    try {
      return look({ path: paths.database, backupsDirectory: paths.backups }, realpathSync(paths.home));
    } finally {
      lock.release();
    }
  } catch (error) {
    return found("warn", `The database could not be looked at: ${messageOf(error)}`);
  }
}

function look(place: Place, home: string): FindingJson {
  const { path, backupsDirectory } = place;
  let sqlite: Sqlite | undefined;
  try {
    const version = inspectDatabase(place, migrations.length);
    if (version === 0) return whole;
    sqlite = new Sqlite(untouched(path), undefined, true);
    // An older schema is brought up to date by the next start; until then only SQLite itself can judge it.
    const problems = verifyDatabase(sqlite, version === migrations.length);
    if (problems.length === 0) return mismatch(sqlite, home) ?? whole;
    const fix = `Keep a copy of ${path}, and put the newest file of ${backupsDirectory} in its place.`;
    return found("fail", `The database is damaged: ${problems.slice(0, 5).join("; ")}`, fix);
  } catch (error) {
    const told = storageError(error, place);
    return found("fail", messageOf(told), told instanceof HoldfastError ? told.hint : null);
  } finally {
    sqlite?.close();
  }
}

/** The next start refuses a home that is in another directory than before. */
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

const whole = found("ok", "The database is whole.");
