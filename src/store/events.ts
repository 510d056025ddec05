/** Event rows: written in batches, read by sequence or by cursor, each with a checksum [STORE-24]. */
import { crc32 } from "node:zlib";
import type { LogEntry, SessionEvent, StoredEvent } from "../contract/event.ts";
import type { EventsWanted } from "../ports/store.ts";
import type { SessionId } from "../contract/ids.ts";
import type { Sqlite } from "./sqlite.ts";

export interface EventRow extends Omit<LogEntry, "cursor"> {
  crc: number;
}

const columns = "session, seq, at, type, body, crc";
/** One statement for many rows takes half the time of one each; larger batches gain nothing. */
const inserts = [50, 10, 1].map((count) => ({
  count,
  sql: `INSERT INTO events (${columns}) VALUES ${Array(count).fill("(?, ?, ?, ?, ?, ?)").join(", ")}`,
}));

export function encodeEvent(session: SessionId, seq: number, at: number, event: SessionEvent): EventRow {
  const { type } = event;
  const body = JSON.stringify({ ...event, type: undefined });
  return { session, seq, at, type, body, crc: checksum(session, seq, at, type, body) };
}

/** Returns the cursor of the last row. */
export function appendEvents(sqlite: Sqlite, rows: readonly EventRow[]): number {
  let last: number | bigint = 0;
  let index = 0;
  for (const { count, sql } of inserts) {
    while (index + count <= rows.length) {
      const values: (string | number)[] = [];
      for (const end = index + count; index < end; index++) push(values, rows[index]!);
      last = sqlite.statement(sql).run(...values).lastInsertRowid;
    }
  }
  return Number(last);
}

export function readEvents(sqlite: Sqlite, session: SessionId, after: number, limit: number): StoredEvent[] {
  const sql = `SELECT ${columns} FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`;
  return (sqlite.statement(sql).all(session, after, limit) as unknown as EventRow[]).map(decodeEvent);
}

/** By iteration: a flooding agent's rows have a megabyte each, and only the requested ones are read. */
export function readSomeEvents(sqlite: Sqlite, session: SessionId, wanted: EventsWanted): StoredEvent[] {
  const { after = 0, before = Number.MAX_SAFE_INTEGER, limit, chars, types = [], newest = false } = wanted;
  const ofTypes = types.length === 0 ? "" : `AND type IN (${types.map(() => "?").join(", ")})`;
  const order = newest ? "DESC" : "ASC";
  const sql = `SELECT ${columns} FROM events WHERE session = ? AND seq > ? AND seq < ? ${ofTypes} ORDER BY seq ${order} LIMIT ?`;
  const found: StoredEvent[] = [];
  let read = 0;
  for (const row of sqlite.statement(sql).iterate(session, after, before, ...types, limit)) {
    found.push(decodeEvent(row as unknown as EventRow));
    read += (row as unknown as EventRow).body.length;
    if (read >= chars) break;
  }
  return newest ? found.toReversed() : found;
}

/** How many rows to search for the agent's text and what divides it. */
const textRows = 64;
/** A piece of a flood may have megabytes, and only its end counts. */
const textCharacters = 4_000;

/** A chat agent's latest text after a sequence, with line breaks where it did something else in between. */
export function readAgentText(sqlite: Sqlite, session: SessionId, after: number): string {
  const types = "'agent.text', 'tool.updated', 'turn.started'";
  const sql = `SELECT ${columns} FROM events WHERE session = ? AND seq > ? AND type IN (${types}) ORDER BY seq DESC LIMIT ${textRows}`;
  let text = "";
  for (const row of sqlite.statement(sql).iterate(session, after)) {
    const event = row["type"] === "agent.text" ? decodeEvent(row as unknown as EventRow) : null;
    text = (event?.type === "agent.text" ? event.text.slice(-textCharacters) : "\n") + text;
    if (text.length >= textCharacters) break;
  }
  return text;
}

export function readLog(sqlite: Sqlite, after: number, limit: number): LogEntry[] {
  const sql = `SELECT cursor, ${columns} FROM events WHERE cursor > ? ORDER BY cursor LIMIT ?`;
  return (sqlite.statement(sql).all(after, limit) as unknown as (EventRow & { cursor: number })[]).map(toEntry);
}

/** `newest` is the session's last sequence. */
export function readSessionLog(
  sqlite: Sqlite,
  session: SessionId,
  after: number,
  limit: number,
  newest: number,
): LogEntry[] {
  const seq = lastSeqUpTo(sqlite, session, after, newest);
  const sql = `SELECT cursor, ${columns} FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?`;
  return (sqlite.statement(sql).all(session, seq, limit) as unknown as (EventRow & { cursor: number })[]).map(toEntry);
}

/** The highest cursor ever used, even if its event was purged since. */
export function readCursor(sqlite: Sqlite): number {
  const row = sqlite.statement("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get();
  return Number(row?.["seq"] ?? 0);
}

export function decodeEvent(row: EventRow): StoredEvent {
  const { seq, at, type, body } = believable(row);
  return { seq, at, type, ...(JSON.parse(body) as object) } as StoredEvent;
}

export function isIntact(row: EventRow): boolean {
  return row.crc === checksum(row.session, row.seq, row.at, row.type, row.body);
}

function checksum(session: string, seq: number, at: number, type: string, body: string): number {
  return crc32(`${session} ${seq} ${at} ${type} ${body}`);
}

function push(values: (string | number)[], row: EventRow): void {
  values.push(row.session, row.seq, row.at, row.type, row.body, row.crc);
}

/** A damaged event is replaced by a notice, so the sequence has no gap and the loss is visible. */
function believable(row: EventRow): Pick<EventRow, "seq" | "at" | "type" | "body"> {
  if (isIntact(row)) return row;
  const { seq, at, type } = row;
  const text = `Event ${seq} (${type}) is damaged in the database and cannot be shown.`;
  return { seq, at, type: "notice", body: JSON.stringify({ level: "warn", text }) };
}

function toEntry(row: EventRow & { cursor: number }): LogEntry {
  const { seq, at, type, body } = believable(row);
  return { cursor: row.cursor, session: row.session, seq, at, type, body };
}

/**
 * Within a session, sequence and cursor rise together: binary search on the index of (session, seq), which includes the
 * cursor, saves a second index.
 */
function lastSeqUpTo(sqlite: Sqlite, session: SessionId, cursor: number, newest: number): number {
  const find = sqlite.statement("SELECT cursor FROM events WHERE session = ? AND seq = ?");
  let low = 0;
  let high = newest;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const found = find.get(session, middle)?.["cursor"];
    if (found === undefined || Number(found) <= cursor) low = middle;
    else high = middle - 1;
  }
  return low;
}
