/** Offsets of chat launches, and the lines for their agents: rows first, files afterwards. */
import { crc32 } from "node:zlib";
import type { ReplayFilter } from "../contract/acp.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { LaunchOffsets, InputRow } from "../ports/store.ts";
import type { Sqlite } from "./sqlite.ts";

interface OffsetRow {
  session: SessionId;
  launch: LaunchId;
  inEnd: number;
  outRead: number;
  replayFilter: ReplayFilter;
  info: string;
  settled: number | null;
}

type StoredRow = InputRow & { crc: number };

const selectOffsets = `
  SELECT session, launch, in_end AS inEnd, out_read AS outRead, fence AS replayFilter, info,
    (SELECT answer IS NOT NULL FROM outbox WHERE outbox.launch = launches.launch ORDER BY offset DESC LIMIT 1) AS settled
  FROM launches`;
const selectRow = "SELECT launch, key, offset, length, text, crc, answer FROM outbox";

export function readAllOffsets(sqlite: Sqlite): LaunchOffsets[] {
  return (sqlite.statement(selectOffsets).all() as unknown as OffsetRow[]).map(toOffsets);
}

export function readOffsets(sqlite: Sqlite, launch: LaunchId): LaunchOffsets | null {
  const row = sqlite.statement(`${selectOffsets} WHERE launch = ?`).get(launch) as unknown as OffsetRow | undefined;
  return row === undefined ? null : toOffsets(row);
}

export function readRow(sqlite: Sqlite, launch: LaunchId, key: string): InputRow | null {
  const row = sqlite.statement(`${selectRow} WHERE launch = ? AND key = ?`).get(launch, key);
  return row === undefined ? null : toRow(row as unknown as StoredRow);
}

export function hasRow(sqlite: Sqlite, launch: LaunchId, key: string): boolean {
  return sqlite.statement("SELECT 1 FROM outbox WHERE launch = ? AND key = ?").get(launch, key) !== undefined;
}

export function readRowsAfter(sqlite: Sqlite, launch: LaunchId, offset: number): InputRow[] {
  const sql = `${selectRow} WHERE launch = ? AND offset + length > ? ORDER BY offset`;
  return (sqlite.statement(sql).all(launch, offset) as unknown as StoredRow[]).map(toRow);
}

export function saveOffsets(sqlite: Sqlite, place: LaunchOffsets): void {
  const { launch, session, inEnd, outRead, replayFilter, info } = place;
  sqlite
    .statement(
      `INSERT INTO launches (launch, session, in_end, out_read, fence, info) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (launch) DO UPDATE SET in_end = excluded.in_end, out_read = excluded.out_read,
         fence = excluded.fence, info = excluded.info`,
    )
    .run(launch, session, inEnd, outRead, replayFilter, info);
}

export function saveRow(sqlite: Sqlite, row: InputRow): void {
  const { launch, key, offset, length, text, answer } = row;
  sqlite
    .statement("INSERT INTO outbox (launch, key, offset, length, text, crc, answer) VALUES (?, ?, ?, ?, ?, ?, ?)")
    .run(launch, key, offset, length, text, crc32(text ?? ""), answer);
}

/** The first response counts; a second one changes nothing. */
export function saveResponse(sqlite: Sqlite, launch: LaunchId, key: string, answer: string): void {
  sqlite
    .statement("UPDATE outbox SET answer = ? WHERE launch = ? AND key = ? AND answer IS NULL")
    .run(answer, launch, key);
}

/** A prompt may be 32 MiB; once it is in the agent's file, only the event keeps its text. */
export function dropTexts(sqlite: Sqlite, launch: LaunchId, appendedTo: number): void {
  sqlite
    .statement("UPDATE outbox SET text = NULL WHERE launch = ? AND text IS NOT NULL AND offset + length <= ?")
    .run(launch, appendedTo);
}

export function dropLaunch(sqlite: Sqlite, launch: LaunchId): void {
  sqlite.statement("DELETE FROM outbox WHERE launch = ?").run(launch);
  sqlite.statement("DELETE FROM launches WHERE launch = ?").run(launch);
}

/** All of a session's launches, or all but one. */
export function dropLaunches(sqlite: Sqlite, session: SessionId, except: LaunchId | null): void {
  const rows = sqlite.statement("SELECT launch FROM launches WHERE session = ?").all(session);
  for (const { launch } of rows as unknown as { launch: LaunchId }[]) if (launch !== except) dropLaunch(sqlite, launch);
}

function toOffsets(row: OffsetRow): LaunchOffsets {
  // Without any row nothing was sent, so nothing is unread.
  return { ...row, settled: row.settled !== 0 };
}

function toRow({ crc, ...row }: StoredRow): InputRow {
  if (row.text === null || crc === crc32(row.text)) return row;
  throw new HoldfastError("storage", `A line for the agent of launch ${row.launch} is damaged in the database.`, {
    hint: "It will not be sent. List all damage: holdfast doctor",
  });
}
