/** Helpers for concurrent work: order, limits, deadlines, closing. */

/** Runs work one at a time per key; different keys run side by side. */
export class Serial {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

type Close = () => void | Promise<void>;

/** Closes everything registered with it, last opened first. */
export class Owner {
  #closers: { name: string; close: Close }[] = [];
  #closing: Promise<void> | undefined;

  owns(name: string, close: Close): void {
    if (this.#closing !== undefined) throw new Error(`${name} was opened after its owner closed`);
    this.#closers.push({ name, close });
  }

  /** Closes everything even if some of it fails, then throws the failures. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const { name, close } of this.#closers.toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(new Error(`closing ${name} failed`, { cause: error }));
      }
    }
    this.#closers = [];
    if (failures.length > 0) throw new AggregateError(failures, "failed to close everything");
  }
}

/** Runs at most `count` at a time, the rest in order. Work longer than `longestMs` continues, but frees its slot. */
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

/** Waits for a promise at most `ms`; a late result is dropped. */
export async function bounded<T>(work: Promise<T>, ms: number): Promise<T | "too-late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"too-late">((resolve) => {
    timer = setTimeout(() => resolve("too-late"), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
