/** The log for followers: told that something changed, they re-read behind their cursor, so no notice can be lost. */
import { build, version } from "../base/program.ts";
import type { Tail } from "../ports/api.ts";
import type { LogEntry } from "../contract/event.ts";
import { asSessionId } from "../contract/ids.ts";
import type { SessionJson } from "../contract/session.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { iso, sessionJson } from "../supervisor/view.ts";

/** One frame holds at most so many events, some more than one batch of an agent; one far behind gets several. */
const frameEvents = 4_000;

export function createTail(parts: Services, loop: Loop): Tail {
  const { store } = parts;
  return {
    hello: () => ({ frame: "hello", version, build, cursor: store.cursor() }),
    snapshot: (session) => ({
      frame: "snapshot",
      cursor: store.cursor(),
      sessions: store
        .sessions()
        .filter((state) => session === undefined || state.id === session)
        .map((state) => sessionJson(parts, loop, state)),
    }),
    read: (cursor, session) => {
      const newest = store.cursor();
      if (!Number.isSafeInteger(cursor) || cursor < 0 || cursor > newest) return "unknown";
      const entries = store.log(cursor, frameEvents, session === undefined ? undefined : asSessionId(session));
      if (entries.length === 0) return null;
      const changed = new Map<string, SessionJson>();
      for (const { session: id } of entries) {
        const state = changed.has(id) ? null : store.session(id);
        if (state !== null) changed.set(id, sessionJson(parts, loop, state));
      }
      const next = entries.length < frameEvents ? newest : entries.at(-1)!.cursor;
      const events = entries.map(eventText).join(",");
      const sessions = JSON.stringify([...changed.values()]);
      return { cursor: next, json: `{"frame":"events","cursor":${next},"events":[${events}],"sessions":${sessions}}` };
    },
    onChange: (listener) => store.onCommit(listener),
  };
}

/** A flood is told a hundred thousand times a second: no object is made of it. Ids and types have nothing to escape. */
export function eventText({ session, seq, at, type, body }: LogEntry): string {
  const rest = body === "{}" ? "" : `,${body.slice(1, -1)}`;
  return `{"session":"${session}","seq":${seq},"at":"${iso(at)}","type":"${type}"${rest}}`;
}
