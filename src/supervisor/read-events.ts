/** Events of some types, read in pages. */
import type { EventsWanted, Store } from "../ports/store.ts";
import type { StoredEvent } from "../contract/event.ts";
import type { SessionId } from "../contract/ids.ts";

/** A flood makes events of a megabyte: no more than this is in memory at once. */
export const eventPage = { limit: 5_000, chars: 4 * 1024 * 1024 };

export function lastEvent(
  store: Store,
  id: SessionId,
  wanted: Pick<EventsWanted, "after" | "before" | "types">,
): StoredEvent | undefined {
  return store.someEvents(id, { ...wanted, newest: true, ...eventPage, limit: 1 })[0];
}
