/** A session's events behind a sequence number, or the last ones, page by page. */
import { isLastPage, type EventJson } from "../contract/stream.ts";
import type { Context } from "./context.ts";

const pageSize = 1_000;

/** `take` gets each event once, in order; what it has seen is where a later call goes on. */
export async function readOn(
  context: Context,
  id: string,
  since: number,
  take: (event: EventJson) => void,
): Promise<void> {
  let last = since;
  for (;;) {
    const page = await context.call("events", { params: { id }, query: { since: last, limit: pageSize } });
    for (const event of page) take(event);
    last = page.at(-1)?.seq ?? last;
    if (isLastPage(page, pageSize)) return;
  }
}

/** The last events up to `seq`, read backwards page by page until they are enough, or all. */
export async function readBack(
  context: Context,
  id: string,
  seq: number,
  isEnough: (events: readonly EventJson[]) => boolean,
): Promise<EventJson[]> {
  let events: EventJson[] = [];
  for (let to = seq; to > 0 && !isEnough(events);) {
    const since = Math.max(0, to - pageSize);
    const page: EventJson[] = [];
    // A flood's page may hold fewer than were asked for.
    for (let last = since; last < to;) {
      const part = await context.call("events", { params: { id }, query: { since: last, limit: to - last } });
      page.push(...part);
      last = part.at(-1)?.seq ?? to;
    }
    events = [...page, ...events];
    to = since;
  }
  return events;
}
