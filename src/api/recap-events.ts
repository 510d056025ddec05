/** Reads the newest events for a recap, as many as it can contain, however long the session is. */
import { isEnoughForRecap, makeRecap, recapTypes, type Recap } from "../model/recap.ts";
import type { Store } from "../ports/store.ts";
import type { StoredEvent } from "../contract/event.ts";
import type { PromptId, SessionId } from "../contract/ids.ts";
import { eventPage, lastEvent } from "../supervisor/record.ts";

/** Reads back no further: of a longer turn the recap has the prompt and the end. */
const mostEvents = 100_000;
const mostChars = 16 * 1024 * 1024;

export function recapOf(store: Store, id: SessionId, before: number): Recap {
  const { events, more } = newest(store, id, before);
  return makeRecap(events, { more, promptText: (promptId) => textOf(store, id, promptId) });
}

/** The events begin with the start of a turn, so that no part of one passes for a complete turn. */
function newest(store: Store, id: SessionId, before: number): { events: StoredEvent[]; more: boolean } {
  let events: StoredEvent[] = [];
  let chars = 0;
  for (;;) {
    const end = events[0]?.seq ?? before;
    const older = store.someEvents(id, { before: end, types: recapTypes, newest: true, ...eventPage });
    events = [...older, ...events];
    chars += older.reduce((sum, event) => sum + ("text" in event ? event.text.length : 0), 0);
    if (older.length === 0) return { events, more: false };
    const tooLong = events.length >= mostEvents || chars >= mostChars;
    if (!tooLong && !isEnoughForRecap(events)) continue;
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

/** A prompt may have been queued so long that no page has its admission; a damaged one is left out. */
function textOf(store: Store, id: SessionId, promptId: PromptId): string | null {
  try {
    return store.prompt(id, promptId)?.text ?? null;
  } catch {
    return null;
  }
}
