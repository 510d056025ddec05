/** How much the daemon logs. */
export const levels = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];

export function isLevel(value: unknown): value is Level {
  return levels.some((level) => level === value);
}
