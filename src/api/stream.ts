/** A session's events and transcript, and the log for followers: notified of a commit, they re-read from their cursor. */
import { build, version } from "../base/program.ts";
import type { LogEntry } from "../contract/event.ts";
import { asSessionId } from "../contract/ids.ts";
import type { SessionJson } from "../contract/session.ts";
import { eventPageChars } from "../contract/stream.ts";
import type { Handlers, Tail } from "../ports/api.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { eventJson, iso, sessionJson, type ViewServices } from "../supervisor/view.ts";
import { findSession, integer } from "./find.ts";

/** A response has at most this many events; the caller continues after the last one. */
const maxEvents = 10_000;
const defaultItems = 200;
const maxItems = 1_000;

export function streamHandlers(services: Pick<Services, "store" | "transcripts">): Handlers<"events" | "transcript"> {
  const { store, transcripts } = services;
  return {
    events: (request) => {
      const { query } = request;
      const after = integer("since", query.since, 0, 0);
      const before = integer("before", query.before, Number.MAX_SAFE_INTEGER, 0);
      const limit = Math.min(integer("limit", query.limit, maxEvents), maxEvents);
      const newest = query.before !== undefined;
      const { id } = findSession(services, request);
      return store.someEvents(id, { after, before, limit, chars: eventPageChars, newest }).map(eventJson);
    },
    transcript: (request) => {
      const tail = Math.min(integer("tail", request.query.tail, defaultItems), maxItems);
      const before = integer("before", request.query.before, Number.MAX_SAFE_INTEGER);
      return transcripts.read(findSession(services, request).id, { tail, before });
    },
  };
}

/** A frame has at most this many events, more than one batch of an agent; a follower far behind gets several. */
const frameEvents = 4_000;

export function createTail(services: ViewServices, loop: Loop): Tail {
  const { store } = services;
  return {
    hello: () => ({ frame: "hello", version, build, cursor: store.cursor() }),
    snapshot: (session) => ({
      frame: "snapshot",
      cursor: store.cursor(),
      sessions: store
        .sessions()
        .filter((state) => session === undefined || state.id === session)
        .map((state) => sessionJson(services, loop, state)),
    }),
    read: (cursor, session) => {
      const newest = store.cursor();
      if (!Number.isSafeInteger(cursor) || cursor < 0 || cursor > newest) return "unknown";
      const entries = store.log(cursor, frameEvents, session === undefined ? undefined : asSessionId(session));
      if (entries.length === 0) return null;
      const changed = new Map<string, SessionJson>();
      for (const { session: id } of entries) {
        const state = changed.has(id) ? null : store.session(id);
        if (state !== null) changed.set(id, sessionJson(services, loop, state));
      }
      const next = entries.length < frameEvents ? newest : entries.at(-1)!.cursor;
      const events = entries.map(eventText).join(",");
      const sessions = JSON.stringify([...changed.values()]);
      return { cursor: next, json: `{"frame":"events","cursor":${next},"events":[${events}],"sessions":${sessions}}` };
    },
    onChange: (listener) => store.onCommit(listener),
  };
}

/** Text from text: an agent's flood has a hundred thousand events per second. Ids and types need no escaping. */
export function eventText({ session, seq, at, type, body }: LogEntry): string {
  const fields = body === "{}" ? "" : `,${body.slice(1, -1)}`;
  return `{"session":"${session}","seq":${seq},"at":"${iso(at)}","type":"${type}"${fields}}`;
}
