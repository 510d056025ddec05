/** The event log, newest first: filtered by type and text, older events on demand. */
import { useId, useState, useEffect } from "react";
import type { EventJson } from "../../contract/stream.ts";
import { Button } from "../shared/ui/button.tsx";
import { Fault, Select, TextInput } from "../shared/ui/field.tsx";
import { Spinner } from "../shared/ui/loading.tsx";
import { eventText, eventGroup } from "../../model/event-text.ts";
import { visibleText } from "../shared/ui/safe-text.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { onEvents } from "../shared/data/live.ts";

/** Events per page of the log. */
const pageSize = 200;
/** A log that stays open must not grow without limit; older events can be loaded again. */
const keptMost = 5_000;

interface EventLog {
  /** In ascending order; null before the first response. */
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
    // Subscribed before the request: events in between are in one of the two, or in both.
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

/** Higher than any event number. */
const newest = Number.MAX_SAFE_INTEGER;

function join(older: readonly EventJson[], newer: readonly EventJson[]): readonly EventJson[] {
  const last = older.at(-1)?.seq ?? 0;
  const all = [...older, ...newer.filter(({ seq }) => seq > last)];
  return all.length > keptMost ? all.slice(-keptMost) : all;
}

/** Maximum rows rendered; a filter finds the others. */
const shownMost = 500;

export function EventList({ log }: { log: EventLog }) {
  const [group, setGroup] = useState("");
  const [query, setQuery] = useState("");
  const heading = useId();
  const events = log.events ?? [];
  const groups = [...new Set(events.map(eventGroup))].sort();
  const needle = query.toLowerCase();
  const found = events.filter(
    (event) =>
      (group === "" || eventGroup(event) === group) &&
      (needle === "" || `${event.type} ${eventText(event)}`.toLowerCase().includes(needle)),
  );
  return (
    <section aria-labelledby={heading} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h2 id={heading} className="mr-auto font-semibold">
          Events
        </h2>
        <Select aria-label="Event type" className="w-auto!" value={group} onChange={(e) => setGroup(e.target.value)}>
          <option value="">All types</option>
          {groups.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
        <TextInput
          aria-label="Filter events"
          placeholder="Filter"
          type="search"
          className="w-40!"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </div>
      <Fault text={log.fault && `Could not load events: ${log.fault}`} />
      {log.events === null && log.fault === null && <Spinner label="Loading events" />}
      {log.events !== null && found.length === 0 && <p className="text-dim">No matching events.</p>}
      <ol className="overflow-hidden rounded-lg border border-line bg-panel empty:hidden">
        {found
          .slice(-shownMost)
          .toReversed()
          .map((event) => (
            <Row key={event.seq} event={event} />
          ))}
      </ol>
      {found.length > shownMost && <p className="text-dim">{found.length - shownMost} older events are not shown.</p>}
      {log.older && log.events !== null && (
        <div>
          <Button onClick={() => void log.loadOlder()}>Load older events</Button>
        </div>
      )}
    </section>
  );
}

function Row({ event }: { event: EventJson }) {
  const [open, setOpen] = useState(false);
  const at = new Date(event.at);
  return (
    <li className="border-t border-line first:border-t-0">
      <button
        type="button"
        aria-expanded={open}
        className="flex w-full min-w-0 flex-wrap items-baseline gap-x-3 px-3 py-1 text-left hover:bg-sunken pointer-coarse:py-2.5"
        onClick={() => setOpen(!open)}
      >
        <span className="w-10 shrink-0 text-right text-xs text-dim tabular-nums">{event.seq}</span>
        <time dateTime={event.at} title={at.toLocaleString()} className="shrink-0 text-xs text-dim tabular-nums">
          {at.toLocaleTimeString()}
        </time>
        <span className="shrink-0 font-mono text-xs">{event.type}</span>
        <span className="min-w-0 flex-1 basis-48 break-words text-dim">{visibleText(eventText(event))}</span>
      </button>
      {open && (
        <pre
          tabIndex={0}
          className="max-h-96 overflow-auto bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap"
        >
          {visibleText(JSON.stringify(event, null, 2))}
        </pre>
      )}
    </li>
  );
}
