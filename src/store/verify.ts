/** Finds all problems of the database without changing it. Reads all of it: for `doctor`, not for a start. */
import { isIntact, type EventRow } from "./events.ts";
import { findSessionProblems } from "./sessions.ts";
import type { Sqlite } from "./sqlite.ts";

/** More would not help a user. */
const maxProblems = 100;

/** `ownTables`: the tables have this version's schema. */
export function verifyDatabase(sqlite: Sqlite, ownTables = true): string[] {
  const problems: string[] = [];
  for (const row of sqlite.statement(`PRAGMA integrity_check(${maxProblems})`).all()) {
    const text = String(row["integrity_check"]);
    if (text !== "ok") problems.push(`SQLite: ${text}`);
  }
  for (const row of sqlite.statement("PRAGMA foreign_key_check").iterate()) {
    problems.push(`SQLite: a row of ${String(row["table"])} refers to a missing row.`);
  }
  if (ownTables) problems.push(...findSessionProblems(sqlite), ...findDamagedEvents(sqlite), ...findOrphans(sqlite));
  return problems.slice(0, maxProblems);
}

function findDamagedEvents(sqlite: Sqlite): string[] {
  const problems: string[] = [];
  const rows = sqlite.statement("SELECT session, seq, at, type, body, crc FROM events ORDER BY cursor").iterate();
  for (const row of rows as unknown as Iterable<EventRow>) {
    if (isIntact(row)) continue;
    problems.push(`Session ${row.session}: event ${row.seq} (${row.type}) is damaged.`);
    if (problems.length >= maxProblems) break;
  }
  return problems;
}

function findOrphans(sqlite: Sqlite): string[] {
  return sqlite
    .statement("SELECT DISTINCT session FROM events WHERE session NOT IN (SELECT id FROM sessions)")
    .all()
    .map((row) => `Events of ${String(row["session"])}, which is not a session.`);
}
