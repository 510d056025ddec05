/** One host and one token: where it is asked, with what, and when it may be asked again. */
import type { TrackerSettings } from "../../ports/tracker.ts";
import { isLoopback } from "./http.ts";
import { Limits, Unanswered } from "./limits.ts";
import type { Token } from "./token.ts";

/** A token that was changed is noticed without a restart. */
const tokenAgeMs = 10 * 60_000;
/** One that is missing is looked for again soon, but `gh` is not started for every question. */
const missingAgeMs = 10_000;

export class Account {
  readonly limits: Limits;
  readonly now: () => number;
  readonly #settings: TrackerSettings;
  readonly #find: () => Promise<Token>;
  #token: { token: Promise<Token>; until: number } | null = null;
  #secret: string | null = null;

  constructor(settings: TrackerSettings, now: () => number, find: () => Promise<Token>) {
    this.#settings = settings;
    this.now = now;
    this.#find = find;
    this.limits = new Limits(now);
  }

  /** Throws `Unanswered` where there is none, or where it would travel in the clear. */
  async token(): Promise<string> {
    const base = this.#settings.baseUrl === null ? null : new URL(this.#settings.baseUrl);
    if (base !== null && base.protocol !== "https:" && !isLoopback(base)) {
      throw new Unanswered(`${base.origin} is not asked: without https the token would be readable on the way.`);
    }
    if (this.#token === null || this.#token.until < this.now()) {
      const looking = { token: this.#find(), until: Infinity };
      this.#token = looking;
      const found = await looking.token;
      looking.until = this.now() + (found.found ? tokenAgeMs : missingAgeMs);
    }
    const token = await this.#token.token;
    if (!token.found) throw new Unanswered(token.why);
    this.#secret = token.value;
    return token.value;
  }

  get secret(): string | null {
    return this.#secret;
  }

  forget(): void {
    this.#token = null;
  }
}
