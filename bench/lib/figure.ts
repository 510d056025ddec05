/** One measured figure: a JSON line on stdout that run.ts collects. `met` stands only where there is a goal. */
export interface Figure {
  bench: string;
  what: string;
  /** The value the goal is about, in `unit`. */
  measured: number;
  unit: string;
  goal?: number;
  met?: boolean;
  [more: string]: unknown;
}

export function print(figure: Figure): void {
  process.stdout.write(`${JSON.stringify(figure)}\n`);
}

/** A goal of "at most". */
export function atMost(measured: number, goal: number): { goal: number; met: boolean } {
  return { goal, met: measured <= goal };
}

export interface Summary {
  median: number;
  min: number;
  max: number;
}

export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const [min = NaN, max = NaN] = [sorted[0], sorted.at(-1)];
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
  return { median: round((lower + upper) / 2), min: round(min), max: round(max) };
}

/**
 * How many times the floor: the median over the rounds of (ours / floor), both measured side by side in the same round, so
 * that a machine that gets busy for a while slows both.
 */
export function ratio(ours: readonly number[], floor: readonly number[]): Summary {
  return summarise(ours.map((value, index) => value / (floor[index] ?? NaN)));
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
