/**
 * Sends notifications outside of the dashboard. Each is recorded before it is sent and again after, so that a crash in
 * between sends it again with the same id and loses none.
 */
import { bounded } from "../../base/async.ts";
import * as registry from "../notifiers/registry.ts";
import type { Channel, NotifySettings, Notification } from "../../ports/notify.ts";
import { messageOf } from "../../contract/errors.ts";
import type { StoredEvent } from "../../contract/event.ts";
import type { ProjectId, SessionId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { Services } from "../../supervisor/services.ts";
import { eventPage } from "../../supervisor/record.ts";

/** Users who get more than this turn all of them off. */
const maxPerHour = 20;
const hourMs = 3_600_000;
/** For channels that hang despite their own deadline. */
const channelDeadlineMs = 25_000;

export class Notifications {
  readonly #services: Pick<Services, "store" | "settings" | "clock" | "log">;
  readonly #push: PushChannel;
  readonly #channels: typeof configuredChannels;
  readonly #sentAt = new Map<ProjectId, number[]>();
  readonly #sending = new Set<string>();
  #closed = false;

  constructor(
    services: Pick<Services, "store" | "settings" | "clock" | "log">,
    push: PushChannel,
    channels: typeof configuredChannels = configuredChannels,
  ) {
    this.#services = services;
    this.#push = push;
    this.#channels = channels;
  }

  /** Names of the channels that these settings turn on, and push if a browser subscribed to it. */
  async channelsOf(settings: NotifySettings | undefined): Promise<string[]> {
    return [...((await this.#push.hasSubscribers()) ? ["push"] : []), ...this.#channels(settings ?? {}).keys()];
  }

  /** Sends the session's pending notifications; resolves once each was delivered or failed. */
  async sendPending(id: SessionId): Promise<void> {
    const session = this.#services.store.session(id);
    const pending = (session?.untold ?? []).filter((note) => !this.#sending.has(note));
    if (session === null || pending.length === 0 || this.#closed) return;
    for (const note of pending) this.#sending.add(note);
    try {
      const found = this.#find(session, new Set(pending));
      for (const note of pending) await this.#sendOne(session, note, found.get(note) ?? null);
    } catch (error) {
      this.#services.log.warn("notification failed", { session: id, error: messageOf(error) });
    } finally {
      for (const note of pending) this.#sending.delete(note);
    }
  }

  /** Sends a notification that concerns no session once, to push and to every channel of any project. */
  async announce(note: Notification): Promise<void> {
    const { store, settings, log } = this.#services;
    const channels = new Map<string, Channel>((await this.#push.hasSubscribers()) ? [["push", this.#push.send]] : []);
    for (const { id } of store.projects()) {
      const { notify } = await settings.forSession(id).catch(() => ({ notify: {} }));
      // Once per address, whichever projects name it.
      for (const [name, send] of this.#channels(notify)) channels.set(`${name} ${JSON.stringify(notify)}`, send);
    }
    if (this.#closed) return;
    await Promise.all(
      [...channels].map(async ([name, send]) => {
        const why = await attempt(send(note));
        if (why !== null) log.warn("notification failed", { channel: name.split(" ")[0], error: why });
      }),
    );
  }

  close(): void {
    this.#closed = true;
  }

  async #sendOne(session: SessionState, id: string, event: Note | null): Promise<void> {
    const old = event === null || this.#services.clock.now() - event.at > hourMs;
    const failed = old
      ? [{ channel: "all", why: "more than an hour old" }]
      : await this.#send(session, { ...event, session: session.id, project: session.project }, event.channels);
    if (this.#closed) return;
    await this.#services.store.commit(session.id, (state) =>
      state.untold?.includes(id) === true ? [{ type: "notification.sent", id, failed }] : [],
    );
  }

  async #send(session: SessionState, notification: Notification, names: readonly string[]) {
    if (!this.#maySend(session.project)) {
      return [{ channel: "all", why: `more than ${maxPerHour} notifications in an hour; recorded but not sent` }];
    }
    const settings = await this.#services.settings.forSession(session.project);
    const channels = this.#channels(settings.notify ?? {});
    const results = await Promise.all(
      names.map(async (channel) => {
        const send = channel === "push" ? this.#push.send : channels.get(channel);
        if (send === undefined) return { channel, why: "no longer configured" };
        // The usual cause is a short network failure.
        const first = await attempt(send(notification));
        const why = first === null ? null : await attempt(send(notification));
        return why === null ? null : { channel, why };
      }),
    );
    return results.filter((result) => result !== null);
  }

  #maySend(project: ProjectId): boolean {
    const now = this.#services.clock.now();
    const sentAt = (this.#sentAt.get(project) ?? []).filter((at) => now - at < hourMs);
    if (sentAt.length >= maxPerHour) return false;
    this.#sentAt.set(project, [...sentAt, now]);
    return true;
  }

  #find(session: SessionState, ids: ReadonlySet<string>): Map<string, Note> {
    const found = new Map<string, Note>();
    for (let after = 0; found.size < ids.size;) {
      const events = this.#services.store.someEvents(session.id, { after, types: ["notification"], ...eventPage });
      for (const event of events) if (event.type === "notification" && ids.has(event.id)) found.set(event.id, event);
      const last = events.at(-1);
      if (last === undefined) break;
      after = last.seq;
    }
    return found;
  }
}

/** The channels that these settings turn on, by name. */
export function configuredChannels(settings: NotifySettings): ReadonlyMap<string, Channel> {
  return new Map(
    Object.values(registry).flatMap(({ name, open }) => {
      const channel = open(settings[name]);
      return channel === null ? [] : [[name, channel] as const];
    }),
  );
}

/** Push to subscribed browsers. */
export interface PushChannel {
  hasSubscribers(): Promise<boolean>;
  send: Channel;
}

type Note = Extract<StoredEvent, { type: "notification" }>;

async function attempt(sending: Promise<void>): Promise<string | null> {
  try {
    const outcome = await bounded(sending, channelDeadlineMs);
    return outcome === "too-late" ? `no response within ${channelDeadlineMs / 1000} s` : null;
  } catch (error) {
    return messageOf(error);
  }
}
