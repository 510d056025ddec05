/** Session rows: the projection of each session's events, and the tombstone of a deleted one. */
import { crc32 } from "node:zlib";
import type { SessionId } from "../contract/ids.ts";
import { reduce } from "../model/reduce.ts";
import type { SessionState } from "../model/session.ts";
import { dropAttachments } from "./prompts.ts";
import { decodeEvent, isIntact, type EventRow } from "./events.ts";
import { dropLaunches } from "./agent-input.ts";
import type { Sqlite } from "./sqlite.ts";
import { dropTranscript } from "./transcripts.ts";

interface SessionRow {
  id: SessionId;
  deleted: number;
  state: string | null;
  crc: number | null;
}

export interface LoadedSessions {
  /** In the order of creation. */
  states: Map<SessionId, SessionState>;
  used: Set<string>;
  /** Damaged projections that were rebuilt from their events. */
  rebuilt: SessionId[];
  /** Both projection and events are damaged: verify() reports it, and the session is left alone. */
  damaged: Set<string>;
}

export function loadSessions(sqlite: Sqlite): LoadedSessions {
  const loaded: LoadedSessions = { states: new Map(), used: new Set(), rebuilt: [], damaged: new Set() };
  const rows = sqlite.statement("SELECT id, deleted, state, crc FROM sessions ORDER BY rowid").all();
  for (const row of rows as unknown as SessionRow[]) {
    loaded.used.add(row.id);
    if (isPurged(row)) continue;
    if (isIntactState(row)) {
      loaded.states.set(row.id, decodeState(row.state!));
      continue;
    }
    const state = foldEvents(sqlite, row.id);
    if (state === null) {
      loaded.damaged.add(row.id);
      continue;
    }
    loaded.states.set(row.id, state);
    loaded.rebuilt.push(row.id);
  }
  return loaded;
}

export function saveSession(sqlite: Sqlite, state: SessionState): void {
  const text = JSON.stringify(state);
  sqlite
    .statement(
      `INSERT INTO sessions (id, project, deleted, state, crc) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET deleted = excluded.deleted, state = excluded.state, crc = excluded.crc`,
    )
    .run(state.id, state.project, state.intent.want === "deleted" ? 1 : 0, text, checksum(state.id, text));
}

/** A long history is removed in pieces, so no single commit blocks the daemon. */
const purgedRowsPerCommit = 5000;

/** Returns whether that was the last piece; the tombstone stays. */
export function purgeSession(sqlite: Sqlite, id: SessionId): boolean {
  const { changes } = sqlite
    .statement("DELETE FROM events WHERE cursor IN (SELECT cursor FROM events WHERE session = ? ORDER BY seq LIMIT ?)")
    .run(id, purgedRowsPerCommit);
  if (Number(changes) === purgedRowsPerCommit) return false;
  sqlite.statement("DELETE FROM prompts WHERE session = ?").run(id);
  dropLaunches(sqlite, id, null);
  dropTranscript(sqlite, id);
  dropAttachments(sqlite, id);
  sqlite.statement("UPDATE sessions SET state = NULL, crc = NULL WHERE id = ?").run(id);
  return true;
}

/** Problems of the session rows, for verify(). */
export function findSessionProblems(sqlite: Sqlite): string[] {
  const problems: string[] = [];
  const rows = sqlite.statement("SELECT id, deleted, state, crc FROM sessions").all() as unknown as SessionRow[];
  for (const row of rows) {
    if (isPurged(row)) continue;
    if (!isIntactState(row)) {
      problems.push(`Session ${row.id}: its stored state is damaged.`);
      continue;
    }
    if (row.deleted !== 0) continue;
    const { seq } = JSON.parse(row.state!) as SessionState;
    const counted = sqlite
      .statement("SELECT count(*) AS n, coalesce(max(seq), 0) AS last FROM events WHERE session = ?")
      .get(row.id);
    if (counted?.["n"] === seq && counted["last"] === seq) continue;
    problems.push(
      `Session ${row.id}: its state is at event ${seq}, but ${String(counted?.["n"])} events are stored, ` +
        `the last being ${String(counted?.["last"])}.`,
    );
  }
  return problems;
}

function isPurged(row: SessionRow): boolean {
  return row.deleted === 1 && row.state === null;
}

function isIntactState(row: SessionRow): boolean {
  return row.state !== null && row.crc === checksum(row.id, row.state);
}

function checksum(id: string, state: string): number {
  // In two steps: joining the texts costs as much as the checksum.
  return crc32(state, crc32(`${id} `));
}

/** Adds fields that states of an earlier version lack. */
function decodeState(text: string): SessionState {
  const state = JSON.parse(text) as SessionState;
  state.permissions ??= [];
  state.picks ??= { config: {} };
  if (state.conversationSince === undefined) state.conversationSince = null;
  return state;
}

/** Null if an event is damaged too: a lost `killed` must never read as `running`. */
function foldEvents(sqlite: Sqlite, id: SessionId): SessionState | null {
  const rows = sqlite
    .statement("SELECT session, seq, at, type, body, crc FROM events WHERE session = ? ORDER BY seq")
    .iterate(id);
  let state: SessionState | null = null;
  try {
    for (const row of rows as unknown as Iterable<EventRow>) {
      if (!isIntact(row)) return null;
      state = reduce(state, decodeEvent(row));
    }
  } catch {
    return null;
  }
  return state;
}
