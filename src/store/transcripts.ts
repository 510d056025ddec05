/**
 * Saved transcripts: one row for the reducer's state, one per item. Damaged rows and other formats count as missing.
 */
import { crc32 } from "node:zlib";
import type { SessionId } from "../contract/ids.ts";
import type { ItemRow, TranscriptAdvance, TranscriptRow } from "../ports/store.ts";
import type { Sqlite } from "./sqlite.ts";

export function readTranscript(sqlite: Sqlite, session: SessionId, format: number): TranscriptRow | null {
  const row = sqlite.statement("SELECT format, seq, saved, crc FROM transcripts WHERE session = ?").get(session);
  if (row === undefined || row["format"] !== format) return null;
  const [seq, saved] = [Number(row["seq"]), String(row["saved"])];
  return row["crc"] === checksum(session, seq, saved) ? { seq, saved } : null;
}

/** The newest before that one, newest first; null if one of them is damaged. */
export function readItems(sqlite: Sqlite, session: SessionId, before: number, limit: number): ItemRow[] | null {
  const sql = "SELECT seq, body, crc FROM transcript_items WHERE session = ? AND seq < ? ORDER BY seq DESC LIMIT ?";
  return intact(session, sqlite.statement(sql).all(session, before, limit));
}

/** Null if one of them is missing or damaged. */
export function readItemsAt(sqlite: Sqlite, session: SessionId, seqs: readonly number[]): ItemRow[] | null {
  const statement = sqlite.statement("SELECT seq, body, crc FROM transcript_items WHERE session = ? AND seq = ?");
  const rows = seqs.map((seq) => statement.get(session, seq)).filter((row) => row !== undefined);
  return rows.length < seqs.length ? null : intact(session, rows);
}

/** Writes nothing if another write came first. */
export function saveTranscript(sqlite: Sqlite, session: SessionId, advance: TranscriptAdvance): void {
  const { from, format, seq, saved, items, removed } = advance;
  if (from === null) dropTranscript(sqlite, session);
  else if (readTranscript(sqlite, session, format)?.seq !== from) return;
  const put = sqlite.statement(
    "INSERT INTO transcript_items (session, seq, body, crc) VALUES (?, ?, ?, ?) " +
      "ON CONFLICT (session, seq) DO UPDATE SET body = excluded.body, crc = excluded.crc",
  );
  const remove = sqlite.statement("DELETE FROM transcript_items WHERE session = ? AND seq = ?");
  for (const gone of removed) remove.run(session, gone);
  for (const item of items) put.run(session, item.seq, item.body, checksum(session, item.seq, item.body));
  sqlite
    .statement("INSERT OR REPLACE INTO transcripts (session, format, seq, saved, crc) VALUES (?, ?, ?, ?, ?)")
    .run(session, format, seq, saved, checksum(session, seq, saved));
}

export function dropTranscript(sqlite: Sqlite, session: SessionId): void {
  sqlite.statement("DELETE FROM transcript_items WHERE session = ?").run(session);
  sqlite.statement("DELETE FROM transcripts WHERE session = ?").run(session);
}

function intact(session: SessionId, rows: readonly Record<string, unknown>[]): ItemRow[] | null {
  const items = rows.map(({ seq, body }) => ({ seq: Number(seq), body: String(body) }));
  return items.every(({ seq, body }, index) => rows[index]?.["crc"] === checksum(session, seq, body)) ? items : null;
}

function checksum(session: string, seq: number, text: string): number {
  return crc32(`${session} ${seq} ${text}`);
}
