/** What the context primer is made of: as many of the newest events as it can tell, however long the session is. */
import { contextPrimer, isEnoughForPrimer, type Primer } from "../model/recap.ts";
import type { Store } from "../ports/store.ts";
import type { StoredEvent } from "../contract/event.ts";
import { toldTypes } from "../model/recap-turns.ts";
import type { PromptId, SessionId } from "../contract/ids.ts";
import { eventPage, lastEvent } from "../supervisor/record.ts";

/** Read back no further than this: of a turn that is longer its prompt and its end are told. */
const mostEvents = 100_000;
const mostChars = 16 * 1024 * 1024;

export function primerOf(store: Store, id: SessionId, before: number): Primer {
  const { events, more } = newest(store, id, before);
  return contextPrimer(events, { more, promptText: (promptId) => textOf(store, id, promptId) });
}

/** They begin with a turn's start, so that no part of one is told as a whole. */
function newest(store: Store, id: SessionId, before: number): { events: StoredEvent[]; more: boolean } {
  let events: StoredEvent[] = [];
  let chars = 0;
  for (;;) {
    const end = events[0]?.seq ?? before;
    const older = store.someEvents(id, { before: end, types: toldTypes, newest: true, ...eventPage });
    events = [...older, ...events];
    chars += older.reduce((sum, event) => sum + ("text" in event ? event.text.length : 0), 0);
    if (older.length === 0) return { events, more: false };
    const tooLong = events.length >= mostEvents || chars >= mostChars;
    if (!tooLong && !isEnoughForPrimer(events)) continue;
    const first = events.findIndex(({ type }) => type === "turn.started");
    if (first >= 0) return { events: events.slice(first), more: events[first]!.seq > firstTurn(store, id) };
    const started = lastEvent(store, id, { before: events[0]!.seq, types: ["turn.started"] });
    if (started === undefined) return { events, more: false };
    return { events: [started, ...events], more: started.seq > firstTurn(store, id) };
  }
}

function firstTurn(store: Store, id: SessionId): number {
  return store.someEvents(id, { types: ["turn.started"], ...eventPage, limit: 1 })[0]?.seq ?? 0;
}

/** A prompt may have waited so long that its admission is in no page; one that is damaged is left out. */
function textOf(store: Store, id: SessionId, promptId: PromptId): string | null {
  try {
    return store.prompt(id, promptId)?.text ?? null;
  } catch {
    return null;
  }
}
