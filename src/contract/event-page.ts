/** A page of events has so many characters at most, and one event: then it holds fewer than were asked for. */
import type { EventJson } from "./wire.ts";

export const eventPageChars = 16 * 1024 * 1024;

/** Whether nothing was left out. What was counted is a part of each event, so a page that was cut is never smaller. */
export function isLastPage(events: readonly EventJson[], limit: number): boolean {
  if (events.length === 0) return true;
  return events.length < limit && events.reduce((sum, event) => sum + JSON.stringify(event).length, 0) < eventPageChars;
}
