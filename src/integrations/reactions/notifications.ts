/**
 * Tells people outside of the dashboard. The notification is on record first; that it was told is on record afterwards, so
 * that a crash in between tells it again, with the same id, and loses none.
 */
import { bounded } from "../../base/async.ts";
import type { Channel, NotifySettings, Notifiers, Notification } from "../../ports/notify.ts";
import { messageOf } from "../../contract/error.ts";
import type { StoredEvent } from "../../contract/event.ts";
import type { ProjectId, SessionId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { Services } from "../../supervisor/services.ts";
import { eventPage } from "../../supervisor/record.ts";

/** A person who gets more than this turns them all off. */
const mostAnHour = 20;
const hourMs = 3_600_000;
/** Each channel has a deadline of its own; this one speaks when a channel itself hangs. */
const channelDeadlineMs = 25_000;

export class Notifications {
  readonly #parts: Pick<Services, "store" | "settings" | "clock" | "log">;
  readonly #load: () => Promise<Notifiers>;
  readonly #push: PushChannel;
  readonly #left = new Map<ProjectId, number[]>();
  readonly #telling = new Set<string>();
  #closed = false;

  constructor(
    parts: Pick<Services, "store" | "settings" | "clock" | "log">,
    load: () => Promise<Notifiers>,
    push: PushChannel,
  ) {
    this.#parts = parts;
    this.#load = load;
    this.#push = push;
  }

  /** Names of the channels that these settings have; none of them is loaded for it. Browsers ask for push by themselves. */
  async channelsOf(settings: NotifySettings | undefined): Promise<string[]> {
    const { desktop, webhook, slack } = settings ?? {};
    return [
      ...((await this.#push.isWanted()) ? ["push"] : []),
      ...(desktop === true ? ["desktop"] : []),
      ...(webhook === undefined ? [] : ["webhook"]),
      ...(slack === undefined ? [] : ["slack"]),
    ];
  }

  /** What is on record as not told yet; returns when each was told or failed. */
  async tell(id: SessionId): Promise<void> {
    const session = this.#parts.store.session(id);
    const untold = (session?.untold ?? []).filter((note) => !this.#telling.has(note));
    if (session === null || untold.length === 0 || this.#closed) return;
    for (const note of untold) this.#telling.add(note);
    try {
      const found = this.#find(session, new Set(untold));
      for (const note of untold) await this.#tellOne(session, note, found.get(note) ?? null);
    } catch (error) {
      this.#parts.log.warn("a notification could not be told", { session: id, error: messageOf(error) });
    } finally {
      for (const note of untold) this.#telling.delete(note);
    }
  }

  /** What concerns no session: told once, by push and by every channel that some project has. */
  async announce(note: Notification): Promise<void> {
    const { store, settings, log } = this.#parts;
    const loader = await this.#load();
    const channels = new Map<string, Channel>((await this.#push.isWanted()) ? [["push", this.#push.tell]] : []);
    for (const { id } of store.projects()) {
      const { notify } = await settings.forSession(id).catch(() => ({ notify: {} }));
      // The same address is told once, whichever projects name it.
      for (const [name, tell] of loader.channels(notify)) channels.set(`${name} ${JSON.stringify(notify)}`, tell);
    }
    if (this.#closed) return;
    await Promise.all(
      [...channels].map(async ([name, tell]) => {
        const why = await attempt(tell(note));
        if (why !== null) log.warn("a notification could not be told", { channel: name.split(" ")[0], error: why });
      }),
    );
  }

  close(): void {
    this.#closed = true;
  }

  async #tellOne(session: SessionState, id: string, event: Note | null): Promise<void> {
    const old = event === null || this.#parts.clock.now() - event.at > hourMs;
    const failed = old
      ? [{ channel: "all", why: "it is more than an hour old" }]
      : await this.#send(session, { ...event, session: session.id, project: session.project }, event.channels);
    if (this.#closed) return;
    await this.#parts.store.change(session.id, (state) =>
      state.untold?.includes(id) === true ? [{ type: "notification.sent", id, failed }] : [],
    );
  }

  async #send(session: SessionState, notification: Notification, names: readonly string[]) {
    if (!this.#mayLeave(session.project)) {
      return [{ channel: "all", why: `more than ${mostAnHour} an hour; this one is on record only` }];
    }
    const settings = await this.#parts.settings.forSession(session.project);
    const channels = (await this.#load()).channels(settings.notify ?? {});
    const results = await Promise.all(
      names.map(async (channel) => {
        const tell = channel === "push" ? this.#push.tell : channels.get(channel);
        if (tell === undefined) return { channel, why: "it is not configured any more" };
        // Once more: a network that was just away is the usual reason.
        const first = await attempt(tell(notification));
        const why = first === null ? null : await attempt(tell(notification));
        return why === null ? null : { channel, why };
      }),
    );
    return results.filter((result) => result !== null);
  }

  #mayLeave(project: ProjectId): boolean {
    const now = this.#parts.clock.now();
    const left = (this.#left.get(project) ?? []).filter((at) => now - at < hourMs);
    if (left.length >= mostAnHour) return false;
    this.#left.set(project, [...left, now]);
    return true;
  }

  #find(session: SessionState, ids: ReadonlySet<string>): Map<string, Note> {
    const found = new Map<string, Note>();
    for (let after = 0; found.size < ids.size;) {
      const events = this.#parts.store.someEvents(session.id, { after, types: ["notification"], ...eventPage });
      for (const event of events) if (event.type === "notification" && ids.has(event.id)) found.set(event.id, event);
      const last = events.at(-1);
      if (last === undefined) break;
      after = last.seq;
    }
    return found;
  }
}

/** The way to browsers that subscribed. */
export interface PushChannel {
  isWanted(): Promise<boolean>;
  tell: Channel;
}

type Note = Extract<StoredEvent, { type: "notification" }>;

async function attempt(telling: Promise<void>): Promise<string | null> {
  try {
    const outcome = await bounded(telling, channelDeadlineMs);
    return outcome === "too-late" ? `no answer within ${channelDeadlineMs / 1000} s` : null;
  } catch (error) {
    return messageOf(error);
  }
}
