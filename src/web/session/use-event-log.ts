/** A session's newest events, those that come while it is shown, and older ones as they are asked for. */
import { useEffect, useState } from "react";
import type { EventJson } from "../../contract/wire.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { onEvents } from "../shared/data/live.ts";

/** A page of the log: a screen or three. */
const pageSize = 200;
/** A log that is left open must not grow without end; older ones are a press away again. */
const keptMost = 5_000;

export interface EventLog {
  /** Rising; null before the first answer. */
  events: readonly EventJson[] | null;
  fault: string | null;
  older: boolean;
  loadOlder: () => Promise<void>;
}

export function useEventLog(session: string): EventLog {
  const [events, setEvents] = useState<readonly EventJson[] | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    // Listened to before it is asked: what comes in between is in one of the two, or in both.
    let early: EventJson[] = [];
    const stop = onEvents(session, (batch) => {
      early = [...early, ...batch];
      setEvents((now) => (now === null ? now : join(now, batch)));
    });
    call("events", { params: { id: session }, query: { before: newest, limit: pageSize }, signal: abort.signal }).then(
      (page) => setEvents(join(page, early)),
      (error: unknown) => {
        if (!abort.signal.aborted) setFault(sentenceOf(error));
      },
    );
    return () => {
      stop();
      abort.abort();
    };
  }, [session]);
  const first = events?.[0]?.seq ?? 1;
  const loadOlder = async (): Promise<void> => {
    try {
      const page = await call("events", { params: { id: session }, query: { before: first, limit: pageSize } });
      setEvents((now) => join(page, now ?? []));
      setFault(null);
    } catch (error) {
      setFault(sentenceOf(error));
    }
  };
  return { events, fault, older: first > 1, loadOlder };
}

/** Behind every event there will be. */
const newest = Number.MAX_SAFE_INTEGER;

function join(older: readonly EventJson[], newer: readonly EventJson[]): readonly EventJson[] {
  const last = older.at(-1)?.seq ?? 0;
  const all = [...older, ...newer.filter(({ seq }) => seq > last)];
  return all.length > keptMost ? all.slice(-keptMost) : all;
}
