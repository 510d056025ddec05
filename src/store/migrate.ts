/** Brings the schema up to date, one transaction a step, after a backup of whatever was there. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDirectory, syncDirectory } from "../base/durable-file.ts";
import { applicationId } from "./inspect.ts";
import type { Sqlite } from "./sqlite.ts";

export function migrate(
  sqlite: Sqlite,
  migrations: readonly string[],
  backups: { directory: string; at: number },
): { from: number; to: number; backup: string | null } {
  const from = version(sqlite);
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

function version(sqlite: Sqlite): number {
  return Number(sqlite.pragma("user_version"));
}

/** Whole or not there: written under another name, synced, then renamed. */
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
