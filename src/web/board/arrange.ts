/** Which sessions the board shows, in which column and order. */
import type { SessionJson } from "../../contract/session.ts";
import { byColumn, columns, isMoved, statusLabel, type Column } from "../../model/board.ts";
import type { Preferences } from "../shared/data/preferences.ts";

export interface BoardFilter {
  project: string | null;
  query: string;
  sort: Preferences["sort"];
}

export type Columns = Record<Column, readonly string[]>;

export function arrange(sessions: Iterable<SessionJson>, filter: BoardFilter): Columns {
  const words = filter.query.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = (session: SessionJson): boolean =>
    (filter.project === null || session.project === filter.project) && (words.length === 0 || matches(session, words));
  const { you, working, review, idle, ended } = byColumn([...sessions].filter(isShown), filter.sort);
  return { you: ids(you), working: ids(working), review: ids(review), idle: ids(idle), ended: ids(ended) };
}

const ids = (sessions: readonly SessionJson[]): string[] => sessions.map(({ id }) => id);

/** Whether a change can move anything: most events of an agent do not, and then nothing is sorted. */
export function moves(before: SessionJson | undefined, after: SessionJson, filter: BoardFilter): boolean {
  return before === undefined || filter.query !== "" || isMoved(before, after, filter.sort);
}

/** Reuses the old arrays of unchanged columns, so that they are not rendered again. */
export function keepSame(before: Columns, now: Columns): Columns {
  let same = true;
  const merged = { ...now };
  for (const column of columns) {
    const [old, next] = [before[column], now[column]];
    if (old.length === next.length && old.every((id, at) => id === next[at])) merged[column] = old;
    else same = false;
  }
  return same ? before : merged;
}

export const noColumns: Columns = byColumn([]);

function matches(session: SessionJson, words: string[]): boolean {
  const text = [
    session.id,
    session.title,
    session.project,
    session.agent,
    session.kind,
    session.branch ?? "",
    session.issue ?? "",
    statusLabel(session.status),
    session.reason ?? "",
  ]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}
