/** What the context primer is made of: as many of the newest events as it can tell, however long the session is. */
import { contextPrimer, isEnoughForPrimer, type Primer } from "../core/primer.ts";
import type { Store } from "../ports/store.ts";
import type { StoredEvent } from "../protocol/event.ts";
import type { PromptId, SessionId } from "../protocol/ids.ts";

/** Read back in pages of so many, and no further than this: of a turn that is longer only its end is told. */
const pageEvents = 5_000;
const mostEvents = 100_000;

export function primerOf(store: Store, id: SessionId, before: number): Primer {
  const { events, more } = newest(store, id, before);
  return contextPrimer(events, { more, promptText: (promptId) => textOf(store, id, promptId) });
}

/** They begin with a turn's start, so that no part of one is told as a whole. */
function newest(store: Store, id: SessionId, before: number): { events: StoredEvent[]; more: boolean } {
  let events: StoredEvent[] = [];
  for (let end = Math.max(0, before - 1); ;) {
    const from = Math.max(0, end - pageEvents);
    events = [...store.events(id, from, end - from), ...events];
    if (from === 0) return { events, more: false };
    if (isEnoughForPrimer(events) || events.length >= mostEvents) {
      const first = events.findIndex(({ type }) => type === "turn.started");
      return { events: events.slice(Math.max(0, first)), more: true };
    }
    end = from;
  }
}

/** A prompt may have waited so long that its admission is in no page; one that is damaged is left out. */
function textOf(store: Store, id: SessionId, promptId: PromptId): string | null {
  try {
    return store.prompt(id, promptId)?.text ?? null;
  } catch {
    return null;
  }
}
