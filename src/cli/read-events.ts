/** A session's events behind a sequence number, page by page. */
import type { EventJson } from "../protocol/wire.ts";
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
    if (page.length < pageSize) return;
  }
}
