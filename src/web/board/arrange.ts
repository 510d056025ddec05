/** Which sessions the board shows, in which column and order. */
import type { SessionJson } from "../../contract/wire.ts";
import { needOf, needs, statusWords, type Need } from "../state/need.ts";
import type { Preferences } from "../shared/data/preferences.ts";

export interface BoardFilter {
  project: string | null;
  query: string;
  sort: Preferences["sort"];
}

export type Columns = Record<Need, readonly string[]>;

/**
 * Activity is compared by the minute: otherwise cards of busy agents would swap places with every word, and a moving
 * card cannot be clicked.
 */
const activityStepMs = 60_000;

export function arrange(sessions: Iterable<SessionJson>, filter: BoardFilter): Columns {
  const words = filter.query.toLowerCase().split(/\s+/).filter(Boolean);
  const columns: Record<Need, SessionJson[]> = { you: [], working: [], review: [], idle: [], ended: [] };
  for (const session of sessions) {
    if (filter.project !== null && session.project !== filter.project) continue;
    if (words.length > 0 && !matches(session, words)) continue;
    columns[needOf(session)].push(session);
  }
  const order = orders[filter.sort];
  const ids = (need: Need): string[] => columns[need].sort(order).map(({ id }) => id);
  return { you: ids("you"), working: ids("working"), review: ids("review"), idle: ids("idle"), ended: ids("ended") };
}

/** Whether a change can move a card: most agent output does not, and then nothing is sorted. */
export function moves(before: SessionJson | undefined, after: SessionJson, filter: BoardFilter): boolean {
  if (before === undefined || filter.query !== "" || needOf(before) !== needOf(after)) return true;
  return filter.sort === "activity" && stepOf(before.lastActivityAt) !== stepOf(after.lastActivityAt);
}

/** Reuses the old arrays of unchanged columns, so that they are not rendered again. */
export function keepSame(before: Columns, now: Columns): Columns {
  let same = true;
  const merged = { ...now };
  for (const need of needs) {
    const [old, next] = [before[need], now[need]];
    if (old.length === next.length && old.every((id, at) => id === next[at])) merged[need] = old;
    else same = false;
  }
  return same ? before : merged;
}

export const noColumns: Columns = { you: [], working: [], review: [], idle: [], ended: [] };

function matches(session: SessionJson, words: string[]): boolean {
  const text = [
    session.id,
    session.title,
    session.project,
    session.agent,
    session.kind,
    session.branch ?? "",
    session.issue ?? "",
    statusWords(session.status),
    session.reason ?? "",
  ]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

const natural = new Intl.Collator("en", { numeric: true });
const byName = (a: SessionJson, b: SessionJson): number => natural.compare(a.id, b.id);

const orders: Record<Preferences["sort"], (a: SessionJson, b: SessionJson) => number> = {
  name: byName,
  created: (a, b) => timeOf(b.createdAt) - timeOf(a.createdAt) || byName(a, b),
  activity: (a, b) => stepOf(b.lastActivityAt) - stepOf(a.lastActivityAt) || byName(a, b),
};

function timeOf(text: string | null): number {
  return text === null ? 0 : Date.parse(text);
}

function stepOf(text: string | null): number {
  return Math.floor(timeOf(text) / activityStepMs);
}
