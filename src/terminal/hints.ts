/**
 * Says when something may have changed, so that the loop need not wait for its timer. One call waits inside tmux for
 * deaths and closed sessions; hook files are watched; and since tmux misses some deaths, the kernel is asked about
 * each agent now and then. Hints can be lost: the truth is the list.
 */
import { watch, type FSWatcher } from "node:fs";
import { isAlive, type Identity } from "../base/pid.ts";
import type { SessionId } from "../contract/ids.ts";
import { hintChannel, type Tmux } from "./tmux.ts";

/** The first look of a starting daemon finds many at once, and its first answer must not wait for their watches. */
const soonMs = 100;

/** A death that tmux missed is noticed within this; asking costs some 10 µs an agent. */
const pulseMs = 3000;

type Listener = (session: SessionId | null) => void;

interface Followed {
  agent: Identity;
  /** Where its hooks write. */
  directory: string;
}

export class Hints {
  readonly #tmux: Tmux;
  #closed = false;
  #waiter: AbortController | null = null;
  readonly #listeners: Listener[] = [];
  readonly #followed = new Map<SessionId, Followed & { watcher: FSWatcher | null }>();
  readonly #pulse: NodeJS.Timeout;
  #waiting: Promise<void> | null = null;
  readonly #soon = new Map<SessionId, Followed>();
  #soonTimer: NodeJS.Timeout | undefined;

  constructor(tmux: Tmux) {
    this.#tmux = tmux;
    this.#pulse = setInterval(() => this.#askKernel(), pulseMs).unref();
  }

  add(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Called when a server is known to run: waits for its next hint. */
  listen(): void {
    if (this.#closed || this.#waiting !== null) return;
    this.#waiting = this.#wait();
  }

  async #wait(): Promise<void> {
    // Made here and not before: loading what it needs takes a millisecond of the start.
    this.#waiter ??= new AbortController();
    const reply = await this.#tmux.waitFor(hintChannel, this.#waiter.signal);
    this.#waiting = null;
    if (this.#closed) return;
    // Without a server there is nothing to wait for; the next launch or look listens again.
    if (reply.is === "ok") this.listen();
    this.tell(null);
  }

  /**
   * Follows and listens a moment later, many in one go. What happens until then is heard by no one, so one check all
   * of them comes right after.
   */
  soon(found: (Followed & { session: SessionId }) | null): void {
    if (this.#closed) return;
    const isKnown = found === null || this.#followed.get(found.session)?.directory === found.directory;
    if (isKnown && this.#waiting !== null) return;
    if (found !== null && !isKnown) this.#soon.set(found.session, found);
    this.#soonTimer ??= setTimeout(() => {
      this.#soonTimer = undefined;
      for (const [session, { agent, directory }] of this.#soon) this.follow(session, agent, directory);
      this.#soon.clear();
      this.listen();
      this.tell(null);
    }, soonMs).unref();
  }

  /** Follows an agent and the directory that its hooks write into. */
  follow(session: SessionId, agent: Identity, directory: string): void {
    if (this.#closed || this.#followed.get(session)?.directory === directory) return;
    this.unfollow(session);
    this.#followed.set(session, { directory, agent, watcher: this.#watch(session, directory) });
  }

  unfollow(session: SessionId): void {
    this.#soon.delete(session);
    this.#followed.get(session)?.watcher?.close();
    this.#followed.delete(session);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiter?.abort();
    clearInterval(this.#pulse);
    clearTimeout(this.#soonTimer);
    for (const session of this.#followed.keys()) this.unfollow(session);
    await this.#waiting;
  }

  #askKernel(): void {
    for (const [session, { agent }] of this.#followed) {
      if (isAlive(agent)) continue;
      this.unfollow(session);
      this.tell(session);
    }
  }

  /** Null where the limit of watches is used up: the timer's look finds what hooks say. */
  #watch(session: SessionId, directory: string): FSWatcher | null {
    try {
      const watcher = watch(directory, { persistent: false }, () => this.tell(session));
      watcher.on("error", () => watcher.close());
      return watcher;
    } catch {
      return null;
    }
  }

  tell(session: SessionId | null): void {
    for (const listener of this.#listeners) listener(session);
  }
}
