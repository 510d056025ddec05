/** Time and identity of this boot, handed in so that tests and decisions never read them on their own. */
export interface Clock {
  now(): number;
  bootId(): string;
  /** Milliseconds since boot, time asleep included; setting the clock does not change it. */
  uptime(): number;
}
