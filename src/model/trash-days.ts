/**
 * How long the trash has kept an entry, in days that a daemon saw. A wall clock can be wrong by years and then be set
 * right, so its difference to `trashedAt` proves nothing. A day counts only where all of this holds:
 *
 * - its calendar date (UTC) has not been counted before, however often the clock goes back and forth;
 * - the clock has been steady against the time since boot for ten minutes;
 * - within one boot, the n-th day after the first needs n × 24 hours since boot. Only the first day of each boot rests
 *   on the wall clock alone, because nothing measures the time that a machine was off.
 *
 * Unclear time does not count: an entry is then kept longer.
 */

export interface ClockReading {
  boot: string;
  /** Milliseconds since boot, time asleep included. Setting the clock does not change it. */
  up: number;
  /** The time of day. */
  wall: number;
}

/** Stored as a setting: everything in it must survive JSON. */
export interface SeenDays {
  boot: string;
  /** Wall clock minus time since boot; a change is a jump. */
  offset: number;
  /** Time since boot at the first reading of this boot, or at the last jump. */
  since: number;
  /** No further day counts in this boot before this time since boot. Null before its first. */
  next: number | null;
  /** Counted dates as days since 1970, oldest first. */
  dates: readonly number[];
  /** Days counted for each entry in the trash since it was first seen. */
  entries: Readonly<Record<string, number>>;
}

const dayMs = 24 * 3_600_000;
/** Steps of time synchronization stay below it. */
const jumpMs = 2 * 60_000;
/** A clock that is wrong at boot is usually set right within a minute. */
export const steadyMs = 10 * 60_000;
/** After a long sleep the days slept through are not made up for. */
const leastGapMs = 12 * 3_600_000;
const keptDates = 100;

const dateOf = (wall: number): number => Math.floor(wall / dayMs);

/** The state after one more reading, with `ids` in the trash. The same object when nothing changed. */
export function seeTrash(before: SeenDays | null, reading: ClockReading, ids: readonly string[]): SeenDays {
  const seen = seeClock(before, reading);
  const date = dateOf(reading.wall);
  const isNewDay = isSteady(seen, reading) && !seen.dates.includes(date) && reading.up >= (seen.next ?? 0);
  const counted = isNewDay
    ? {
        ...seen,
        next: seen.next === null ? reading.up + dayMs : Math.max(seen.next + dayMs, reading.up + leastGapMs),
        dates: [...seen.dates, date].slice(-keptDates),
      }
    : seen;
  // An entry that came on a date that still may be counted: that count is not a day in the trash.
  const first = counted.dates.includes(date) ? 0 : -1;
  const daysOf = (id: string): number => {
    const days = seen.entries[id];
    return days === undefined ? first : days + (isNewDay ? 1 : 0);
  };
  const entries = Object.fromEntries(ids.map((id) => [id, daysOf(id)]));
  return isNewDay || !isSame(seen.entries, entries) ? { ...counted, entries } : seen;
}

/** Kept for more than `kept` days, so found expired on one day and removed on another: one wrong date alone removes nothing. */
export function isExpired(seen: SeenDays, reading: ClockReading, id: string, kept: number): boolean {
  return isSteady(seen, reading) && (seen.entries[id] ?? 0) > kept;
}

/** Days counted for an entry; 0 for one that was not counted yet. */
export function daysInTrash(seen: SeenDays | null, id: string): number {
  return Math.max(0, seen?.entries[id] ?? 0);
}

/** The first date (UTC, as yyyy-mm-dd) on which an entry may be removed, if every day from now on counts. */
export function keptUntil(seen: SeenDays | null, wall: number, id: string, kept: number): string {
  const today = dateOf(wall);
  const mayCountToday = seen?.dates.includes(today) === true ? 0 : 1;
  const days = (seen?.entries[id] ?? -mayCountToday) + mayCountToday;
  return new Date((today + Math.max(0, kept + 1 - days)) * dayMs).toISOString().slice(0, 10);
}

/** A stored state; null where it is missing or not one, and then counting starts over. */
export function readSeenDays(text: string | null): SeenDays | null {
  if (text === null) return null;
  let value: Partial<SeenDays> | null;
  try {
    value = JSON.parse(text) as Partial<SeenDays> | null;
  } catch {
    return null;
  }
  const isNumber = (one: unknown): one is number => typeof one === "number" && Number.isFinite(one);
  const { boot, offset, since, next, dates, entries } = value ?? {};
  const isSound =
    typeof boot === "string" &&
    isNumber(offset) &&
    isNumber(since) &&
    (next === null || isNumber(next)) &&
    Array.isArray(dates) &&
    dates.every(isNumber) &&
    typeof entries === "object" &&
    entries !== null &&
    Object.values(entries).every(isNumber);
  return isSound ? (value as SeenDays) : null;
}

function seeClock(before: SeenDays | null, { boot, up, wall }: ClockReading): SeenDays {
  const offset = wall - up;
  const fresh = { boot, offset, since: up };
  if (before === null) return { ...fresh, next: null, dates: [], entries: {} };
  // Less time than before under the same id: a container that was started again.
  if (before.boot !== boot || up < before.since) return { ...before, ...fresh, next: null };
  return Math.abs(offset - before.offset) > jumpMs ? { ...before, ...fresh } : before;
}

function isSteady({ boot, offset, since }: SeenDays, reading: ClockReading): boolean {
  const isSameClock = boot === reading.boot && Math.abs(reading.wall - reading.up - offset) <= jumpMs;
  return isSameClock && reading.up - since >= steadyMs;
}

function isSame(one: SeenDays["entries"], other: SeenDays["entries"]): boolean {
  const ids = Object.keys(one);
  return ids.length === Object.keys(other).length && ids.every((id) => one[id] === other[id]);
}

/**
 * For `trash empty --older-than`: in the trash for more than `days` counted days. Not bound to a steady clock: the count
 * itself grows only then. Everything is older than 0 days.
 */
export function isOlder(counted: number, days: number): boolean {
  return days === 0 || counted > days;
}
