/**
 * Says when something may have changed, so that the loop need not wait for its timer. One call waits inside tmux for
 * deaths and closed sessions; hook files are watched; and since tmux misses some deaths, the kernel is asked about
 * each agent now and then. Hints can be lost: the truth is the list.
 */
import { watch, type FSWatcher } from "node:fs";
import { isAlive, type Identity } from "../base/pid.ts";
import type { SessionId } from "../contract/ids.ts";
import { hintChannel, type Tmux } from "./tmux.ts";

/** A death that tmux missed is noticed within this; asking costs some 10 µs an agent. */
const pulseMs = 3000;

const recheckMs = 100;

type Listener = (session: SessionId | null) => void;

interface Followed {
  agent: Identity;
  /** Where its hooks write. */
  directory: string;
  watcher: FSWatcher | null;
}

export class Hints {
  readonly #tmux: Tmux;
  #closed = false;
  readonly #waiter = new AbortController();
  readonly #listeners: Listener[] = [];
  readonly #followed = new Map<SessionId, Followed>();
  readonly #pulse: NodeJS.Timeout;
  #waiting: Promise<void> | null = null;
  #recheck: NodeJS.Timeout | undefined;

  constructor(tmux: Tmux) {
    this.#tmux = tmux;
    this.#pulse = setInterval(() => this.#askKernel(), pulseMs).unref();
  }

  add(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Called when a server is known to run: waits for its next hint. */
  #listen(): void {
    if (this.#closed || this.#waiting !== null) return;
    this.#waiting = this.#wait();
  }

  async #wait(): Promise<void> {
    const reply = await this.#tmux.waitFor(hintChannel, this.#waiter.signal);
    this.#waiting = null;
    if (this.#closed) return;
    // Without a server there is nothing to wait for; the next launch or look listens again.
    if (reply.is === "ok") this.#listen();
    this.notify(null);
  }

  /** Follows a living agent, in a server that then runs, and the directory that its hooks write into. */
  follow(session: SessionId, agent: Identity, directory: string): void {
    this.#listen();
    if (this.#closed || this.#followed.get(session)?.directory === directory) return;
    this.unfollow(session);
    this.#followed.set(session, { directory, agent, watcher: this.#watch(session, directory) });
    // Changes between the observation that found it and here are missed: one later check covers all new ones.
    this.#recheck ??= setTimeout(() => {
      this.#recheck = undefined;
      this.notify(null);
    }, recheckMs).unref();
  }

  unfollow(session: SessionId): void {
    this.#followed.get(session)?.watcher?.close();
    this.#followed.delete(session);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiter.abort();
    clearInterval(this.#pulse);
    clearTimeout(this.#recheck);
    for (const session of this.#followed.keys()) this.unfollow(session);
    await this.#waiting;
  }

  #askKernel(): void {
    for (const [session, { agent }] of this.#followed) {
      if (isAlive(agent)) continue;
      this.unfollow(session);
      this.notify(session);
    }
  }

  /** Null where the limit of watches is used up: the timer's look finds what hooks say. */
  #watch(session: SessionId, directory: string): FSWatcher | null {
    try {
      const watcher = watch(directory, { persistent: false }, () => this.notify(session));
      watcher.on("error", () => watcher.close());
      return watcher;
    } catch {
      return null;
    }
  }

  notify(session: SessionId | null): void {
    for (const listener of this.#listeners) listener(session);
  }
}
