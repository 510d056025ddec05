/** Which sessions the board shows, in which column and order. */
import type { SessionJson } from "../../contract/wire.ts";
import { needOf, needs, statusWords, type Need } from "../state/need.ts";
import type { Preferences } from "../shared/data/preferences.ts";

export interface Wanted {
  project: string | null;
  query: string;
  sort: Preferences["sort"];
}

export type Columns = Record<Need, readonly string[]>;

/**
 * Activity is told by the minute: agents that talk at the same time would else change places with every word, and a
 * card that moves cannot be hit.
 */
const activityStepMs = 60_000;

export function arrange(sessions: Iterable<SessionJson>, wanted: Wanted): Columns {
  const words = wanted.query.toLowerCase().split(/\s+/).filter(Boolean);
  const columns: Record<Need, SessionJson[]> = { you: [], working: [], review: [], idle: [], ended: [] };
  for (const session of sessions) {
    if (wanted.project !== null && session.project !== wanted.project) continue;
    if (words.length > 0 && !matches(session, words)) continue;
    columns[needOf(session)].push(session);
  }
  const order = orders[wanted.sort];
  const ids = (need: Need): string[] => columns[need].sort(order).map(({ id }) => id);
  return { you: ids("you"), working: ids("working"), review: ids("review"), idle: ids("idle"), ended: ids("ended") };
}

/** Whether a change can move anything: most of what an agent says does not, and then nothing is sorted. */
export function moves(before: SessionJson | undefined, after: SessionJson, wanted: Wanted): boolean {
  if (before === undefined || wanted.query !== "" || needOf(before) !== needOf(after)) return true;
  return wanted.sort === "activity" && stepOf(before.lastActivityAt) !== stepOf(after.lastActivityAt);
}

/** The old arrays where nothing moved, so that a column that is the same is not drawn again. */
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
