/** The small tables: projects, settings, and the numbers of session ids. */
import type { ProjectRow } from "../ports/store.ts";
import type { Sqlite } from "./sqlite.ts";

export function readProjects(sqlite: Sqlite): ProjectRow[] {
  const sql = "SELECT id, path, prefix, config_file AS configFile, added_at AS addedAt FROM projects ORDER BY rowid";
  return sqlite
    .statement(sql)
    .all()
    .map((row) => ({ ...(row as unknown as ProjectRow) }));
}

export function saveProject(sqlite: Sqlite, { id, path, prefix, configFile, addedAt }: ProjectRow): void {
  sqlite
    .statement(
      `INSERT INTO projects (id, path, prefix, config_file, added_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET path = excluded.path, prefix = excluded.prefix,
         config_file = excluded.config_file, added_at = excluded.added_at`,
    )
    .run(id, path, prefix, configFile, addedAt);
}

export function removeProject(sqlite: Sqlite, id: string): void {
  sqlite.statement("DELETE FROM projects WHERE id = ?").run(id);
}

export function readSetting(sqlite: Sqlite, key: string): string | null {
  const value = sqlite.statement("SELECT value FROM settings WHERE key = ?").get(key)?.["value"];
  return typeof value === "string" ? value : null;
}

export function saveSetting(sqlite: Sqlite, key: string, value: string | null): void {
  if (value === null) {
    sqlite.statement("DELETE FROM settings WHERE key = ?").run(key);
    return;
  }
  sqlite
    .statement("INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
    .run(key, value);
}

export function readNumber(sqlite: Sqlite, prefix: string): number {
  return Number(sqlite.statement("SELECT last FROM counters WHERE prefix = ?").get(prefix)?.["last"] ?? 0);
}

export function saveNumber(sqlite: Sqlite, prefix: string, last: number): void {
  sqlite
    .statement(
      "INSERT INTO counters (prefix, last) VALUES (?, ?) ON CONFLICT (prefix) DO UPDATE SET last = excluded.last",
    )
    .run(prefix, last);
}
