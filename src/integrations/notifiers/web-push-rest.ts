/**
 * When a push service that asked for rest, or did not answer, is asked again: after what it said, else later each time.
 * What comes meanwhile waits here, the newest of each topic, for as long as it is news.
 */
import type { Message } from "./web-push-message.ts";

/** Doubled from one failure to the next. */
const firstRestMs = 30_000;
const longestRestMs = 15 * 60_000;
/** Sessions that wait at once for one browser; of more the oldest is left out. */
const mostWaiting = 20;

export class Rest {
  until = 0;
  #failures = 0;
  readonly #waiting = new Map<string, Message>();
  #timer: NodeJS.Timeout | undefined;

  begin(now: number, asked: number | null): void {
    const own = firstRestMs * 2 ** Math.min(this.#failures++, 10);
    this.until = now + Math.min(asked ?? own, longestRestMs);
  }

  end(): void {
    this.#failures = 0;
    this.until = 0;
  }

  hold(message: Message): void {
    // Behind the others again: the first one is left out first.
    this.#waiting.delete(message.topic);
    this.#waiting.set(message.topic, message);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > mostWaiting && oldest !== undefined) this.#waiting.delete(oldest);
  }

  /** What waits, which then waits no more. */
  take(newerThan: number): Message[] {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    return all.filter(({ at }) => at > newerThan);
  }

  /** Once, however often it is asked for. */
  wake(now: number, then: () => void): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        then();
      },
      Math.max(0, this.until - now),
    );
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }
}
