/** Choices that the printed seed repeats: mulberry32, one stream per scenario, so that leaving one out changes no other. */
export class Random {
  #state: number;

  constructor(seed: number, stream = "") {
    let state = seed >>> 0;
    for (const letter of stream) state = (Math.imul(state ^ letter.charCodeAt(0), 0x01000193) + 0x9e3779b9) >>> 0;
    this.#state = state;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error("nothing to pick from");
    return from[Math.floor(this.next() * from.length)]!;
  }

  /** By weight. */
  weighted<T extends string>(weights: Record<T, number>): T {
    const entries = Object.entries(weights) as [T, number][];
    let at = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      at -= weight;
      if (at < 0) return name;
    }
    return entries.at(-1)![0];
  }

  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let at = result.length - 1; at > 0; at--) {
      const other = Math.floor(this.next() * (at + 1));
      [result[at], result[other]] = [result[other]!, result[at]!];
    }
    return result;
  }
}
