/** Time and identity of this boot, handed in so that tests and decisions never read them on their own. */
export interface Clock {
  now(): number;
  bootId(): string;
}
