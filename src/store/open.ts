/** Opens the store: inspect without writing, connect, migrate, load. */
import { chmodSync, existsSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { makePrivateDirectory, syncDirectory } from "../base/durable-file.ts";
import type { Logger } from "../ports/api.ts";
import type { Store } from "../ports/store.ts";
import { storageError } from "./failure.ts";
import { inspectDatabase, applicationId } from "./inspect.ts";
import { migrations as ownMigrations } from "./migrations/index.ts";
import { Reserve } from "./reserve.ts";
import { requireSqliteVersion, Sqlite } from "./sqlite.ts";
import { SqliteStore } from "./store.ts";

export interface StoreOptions {
  /** A file, or ":memory:". */
  path: string;
  backupsDirectory: string;
  /** Null for no reserve. */
  reservePath: string | null;
  now: () => number;
  log?: Logger;
  /** Other schemas, for tests. */
  migrations?: readonly string[];
  /** Simulates a disk that fills up, for tests: the database's page limit, and the free space. */
  disk?: { maxPages: () => number; freeBytes: () => number };
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export function openStore(options: StoreOptions): Store {
  const { path, backupsDirectory, now, log = silent, migrations = ownMigrations, disk } = options;
  const paths = { path, backupsDirectory };
  requireSqliteVersion();
  inspectDatabase(paths, migrations.length);
  let sqlite: Sqlite | undefined;
  try {
    const isNew = path !== ":memory:" && !existsSync(path);
    if (isNew) makePrivateDirectory(dirname(path));
    sqlite = new Sqlite(path, disk?.maxPages);
    if (isNew) {
      // SQLite gives its -wal and -shm files the database's mode. By path: another descriptor would drop locks [STORE-22].
      chmodSync(path, 0o600);
      syncDirectory(dirname(path));
    }
    sqlite.configure();
    const done = migrate(sqlite, migrations, { directory: backupsDirectory, at: now() });
    if (done.backup !== null) log.info("database migrated", { ...done });
    const reserve = new Reserve(options.reservePath, disk?.freeBytes);
    return new SqliteStore({ sqlite, reserve, paths, now, log });
  } catch (error) {
    sqlite?.close();
    throw storageError(error, paths);
  }
}

function migrate(
  sqlite: Sqlite,
  migrations: readonly string[],
  backups: { directory: string; at: number },
): { from: number; to: number; backup: string | null } {
  const from = Number(sqlite.pragma("user_version"));
  const to = migrations.length;
  if (from >= to) return { from, to: from, backup: null };
  const backup = from === 0 ? null : writeBackup(sqlite, from, backups);
  for (let next = from; next < to; next++) {
    sqlite.transaction(() => {
      sqlite.exec(migrations[next]!);
      sqlite.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${next + 1}`);
    });
  }
  return { from, to, backup };
}

/** Complete or absent: written under another name, synced, then renamed. */
function writeBackup(sqlite: Sqlite, from: number, { directory, at }: { directory: string; at: number }): string {
  makePrivateDirectory(directory);
  const time = new Date(at).toISOString().replaceAll(/[:.]/g, "-");
  const path = join(directory, `holdfast-v${from}-${time}.db`);
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  try {
    sqlite.statement("VACUUM INTO ?").run(partial);
    const file = openSync(partial, "r+");
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
  renameSync(partial, path);
  syncDirectory(directory);
  return path;
}
