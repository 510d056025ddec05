/** Ready transcripts without their code, until somebody reads one or a turn has ended: a start of the daemon needs none of it. */
import { loadOnce } from "../base/load-once.ts";
import type { Store } from "../ports/store.ts";
import type { SessionId } from "../contract/ids.ts";
import type { TranscriptPage } from "../contract/transcript.ts";

/** A turn's end is often followed by the next turn; the fold can wait until there is nothing better to do. */
const defaultRestMs = 2_000;

export class LazyTranscripts {
  readonly #store: Store;
  readonly #restMs: number;
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();
  readonly #load = loadOnce(async () => new (await import("./transcripts.ts")).Transcripts(this.#store));

  constructor(store: Store, restMs = defaultRestMs) {
    this.#store = store;
    this.#restMs = restMs;
  }

  async read(id: SessionId, query: Record<string, string>): Promise<TranscriptPage> {
    return (await this.#load()).read(id, query);
  }

  /** Folds on in a while. What is not folded when the daemon ends is folded when somebody reads it. */
  turnEnded(id: SessionId): void {
    clearTimeout(this.#timers.get(id));
    const timer = setTimeout(() => {
      this.#timers.delete(id);
      // A cache that could not be written (a full disk, a deleted session) is no failure.
      this.#load()
        .then((transcripts) => transcripts.advance(id))
        .catch(() => undefined);
    }, this.#restMs);
    this.#timers.set(id, timer.unref());
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
