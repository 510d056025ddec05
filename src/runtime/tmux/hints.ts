/**
 * Says when something may have changed, so that the loop need not wait for its timer. One call waits inside tmux for
 * deaths and closed sessions; hook files are watched. Hints can be lost: the truth is the list.
 */
import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import type { SessionId } from "../../protocol/ids.ts";
import { hintChannel } from "./config.ts";
import type { Tmux } from "./tmux.ts";

type Listener = (session: SessionId | null) => void;

export class Hints {
  readonly #tmux: Tmux;
  readonly #closing = new AbortController();
  readonly #listeners: Listener[] = [];
  readonly #watchers = new Map<SessionId, { directory: string; watcher: FSWatcher | null }>();
  #waiting: Promise<void> | null = null;

  constructor(tmux: Tmux) {
    this.#tmux = tmux;
  }

  add(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Called when a server is known to run: waits for its next hint. */
  listen(): void {
    if (this.#closing.signal.aborted || this.#waiting !== null) return;
    this.#waiting = this.#wait();
  }

  async #wait(): Promise<void> {
    const reply = await this.#tmux.waitFor(hintChannel, this.#closing.signal);
    this.#waiting = null;
    if (this.#closing.signal.aborted) return;
    // Without a server there is nothing to wait for; the next launch or look listens again.
    if (reply.is === "ok") this.listen();
    this.#tell(null);
  }

  /** Follows the directory that a session's hooks write into. */
  follow(session: SessionId, directory: string): void {
    const known = this.#watchers.get(session);
    if (this.#closing.signal.aborted || known?.directory === directory) return;
    known?.watcher?.close();
    this.#watchers.set(session, { directory, watcher: this.#watch(session, directory) });
  }

  unfollow(session: SessionId): void {
    this.#watchers.get(session)?.watcher?.close();
    this.#watchers.delete(session);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const { watcher } of this.#watchers.values()) watcher?.close();
    this.#watchers.clear();
    await this.#waiting;
  }

  /** Null where the limit of watches is used up: the timer's look finds what hooks say. */
  #watch(session: SessionId, directory: string): FSWatcher | null {
    try {
      const watcher = watch(directory, { persistent: false }, () => this.#tell(session));
      watcher.on("error", () => watcher.close());
      return watcher;
    } catch {
      return null;
    }
  }

  #tell(session: SessionId | null): void {
    for (const listener of this.#listeners) listener(session);
  }
}
