/**
 * Run, wake, settle: work that must not overlap with itself. At most one run per key at a time; any number of wakes during
 * a run lead to one more run after it, so the last run always starts after the last wake.
 */
export interface CoordinatorOptions<Key> {
  run: (key: Key) => Promise<void>;
  /** A failed run ends no later one. */
  onError: (key: Key, error: unknown) => void;
  /** No run is under way and none is due. */
  onSettled?: (key: Key) => void;
}

export class Coordinator<Key> {
  readonly #options: CoordinatorOptions<Key>;
  readonly #running = new Map<Key, Promise<void>>();
  readonly #again = new Set<Key>();
  #closed = false;

  constructor(options: CoordinatorOptions<Key>) {
    this.#options = options;
  }

  /** Resolves once a run that started after this call has ended and no other is due; never rejects. */
  wake(key: Key): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const running = this.#running.get(key);
    if (running !== undefined) {
      this.#again.add(key);
      return running;
    }
    // Registered before it starts: the run itself may wake its key.
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.set(key, promise);
    void this.#work(key).then(resolve);
    return promise;
  }

  isRunning(key: Key): boolean {
    return this.#running.has(key);
  }

  /** Starts nothing more, and waits for the runs under way, but not longer than this. */
  async close(graceMs = 0): Promise<void> {
    this.#closed = true;
    const grace = new Promise((resolve) => setTimeout(resolve, graceMs).unref());
    await Promise.race([Promise.all(this.#running.values()), grace]);
  }

  async #work(key: Key): Promise<void> {
    const { run, onError, onSettled } = this.#options;
    do {
      this.#again.delete(key);
      await run(key).catch((error: unknown) => onError(key, error));
    } while (this.#again.has(key) && !this.#closed);
    // In one step with the last check, so that no wake falls between the two.
    this.#again.delete(key);
    this.#running.delete(key);
    onSettled?.(key);
  }
}
