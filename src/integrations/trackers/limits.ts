/**
 * When an account may ask again. Shared by all trackers with the same host and token, since the host counts them
 * together. While it rests nothing is sent: asking on against a limit makes it longer.
 */

/** What is thrown inside adapters when the tracker did not say; it never leaves them. */
export class Unanswered extends Error {
  readonly retryAt: number | null;

  constructor(why: string, retryAt: number | null = null) {
    super(why);
    this.name = "Unanswered";
    this.retryAt = retryAt;
  }
}

const firstRestMs = 1000;
/** A host that is down is asked once a minute: soon enough to notice that it is back. */
const longestRestMs = 60_000;
/** A lying header must not silence a tracker for days; GitHub's window is an hour. */
const longestLimitMs = 65 * 60_000;

export class Limits {
  readonly #now: () => number;
  readonly #rests = new Map<string, { until: number; why: string }>();
  readonly #remaining = new Map<string, number>();
  #failures = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws while this resource, or everything, rests. */
  check(resource: string): void {
    for (const name of [resource, everything]) {
      const rest = this.#rests.get(name);
      if (rest === undefined) continue;
      if (rest.until > this.#now()) throw new Unanswered(rest.why, rest.until);
      this.#rests.delete(name);
    }
  }

  /** The host said how long; `resource` null stands for everything. */
  limited(resource: string | null, until: number, why: string): Unanswered {
    const bounded = Math.min(Math.max(until, this.#now() + firstRestMs), this.#now() + longestLimitMs);
    this.#rests.set(resource ?? everything, { until: bounded, why });
    return new Unanswered(why, bounded);
  }

  /** It did not answer, or not sensibly: each time in a row it rests twice as long. */
  failed(why: string): Unanswered {
    const rest = this.#rests.get(everything);
    // Several that were under way together are one failure.
    if (rest !== undefined && rest.until > this.#now()) return new Unanswered(why, rest.until);
    const until = this.#now() + Math.min(longestRestMs, firstRestMs * 2 ** this.#failures);
    this.#failures++;
    this.#rests.set(everything, { until, why });
    return new Unanswered(why, until);
  }

  succeeded(): void {
    this.#failures = 0;
  }

  noteRemaining(resource: string, remaining: number): void {
    this.#remaining.set(resource, remaining);
  }

  get remaining(): number | null {
    return this.#remaining.size === 0 ? null : Math.min(...this.#remaining.values());
  }

  get restsUntil(): number | null {
    const ends = [...this.#rests.values()].map((rest) => rest.until).filter((until) => until > this.#now());
    return ends.length === 0 ? null : Math.max(...ends);
  }
}

const everything = "";
