/** Durations: parsed from options, formatted for lists and sentences. */
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const sizes: Record<string, number> = { s: second, m: minute, h: hour, d: day, w: 7 * day };

/** Parses 90m, 2h, 1h30m, 3d into milliseconds; null if invalid. */
export function parseDuration(text: string): number | null {
  if (!/^(\d+[smhdw])+$/.test(text)) return null;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhdw])/g)) total += Number(count) * sizes[unit!]!;
  return total > 0 ? total : null;
}

/** 40s, 5m, 1h, 2d, for columns. Never negative, even if the clock was set back. */
export function formatAge(ms: number): string {
  if (ms < minute) return `${Math.max(0, Math.floor(ms / second))}s`;
  if (ms < hour) return `${Math.floor(ms / minute)}m`;
  return ms < day ? `${Math.floor(ms / hour)}h` : `${Math.floor(ms / day)}d`;
}

/** The age of a time as the API gives it; empty without one. */
export function formatAgeOf(time: string | null | undefined, now: number): string {
  return time === null || time === undefined ? "" : formatAge(now - Date.parse(time));
}

const units: readonly (readonly [string, number])[] = [
  ["d", day],
  ["h", hour],
  ["min", minute],
  ["s", second],
];

/** "340 ms", "3.2 s", "2 min 5 s", "2 h 5 min", "3 d 4 h", for sentences. `parts`: units at most; a single one is rounded. */
export function formatDuration(ms: number, parts = 2): string {
  if (ms < second) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * second && parts > 1) return `${Number((ms / second).toFixed(1))} s`;
  const first = units.findIndex(([, size]) => ms >= size);
  if (parts === 1) return `${Math.round(ms / units[first]![1])} ${units[first]![0]}`;
  let left = ms;
  return units
    .slice(first, first + parts)
    .flatMap(([name, size]) => {
      const count = Math.floor(left / size);
      left -= count * size;
      return count === 0 ? [] : [`${count} ${name}`];
    })
    .join(" ");
}
