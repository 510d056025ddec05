/** At most so many at once; the others wait their turn in order. One that takes too long goes on, but holds up nobody. */
export class Slots {
  readonly #longestMs: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number, longestMs: number) {
    this.#free = count;
    this.#longestMs = longestMs;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resume) => this.#waiting.push(resume));
    let held = true;
    const release = (): void => {
      if (held) this.#next();
      held = false;
    };
    const timer = this.#longestMs === Infinity ? undefined : setTimeout(release, this.#longestMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
