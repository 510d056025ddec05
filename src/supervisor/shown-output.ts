/** What a command prints while a worktree is made, as events while it prints: a first `npm ci` takes minutes. */
import { messageOf } from "../contract/error.ts";
import type { FactEvent } from "../contract/event.ts";
import type { SessionId } from "../contract/ids.ts";
import type { Services } from "./services.ts";

/** Soon enough for a person who watches, seldom enough for the log of a command that never stops printing. */
const showEveryMs = 500;
/** Enough for every ordinary build; a command that prints more has its last words at its end. */
const maxShown = 256_000;
const maxLast = 16_000;

export class ShownOutput {
  readonly #services: Pick<Services, "store" | "log">;
  readonly #session: SessionId;
  #waiting = "";
  #shown = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(services: Pick<Services, "store" | "log">, session: SessionId) {
    this.#services = services;
    this.#session = session;
  }

  add(text: string): void {
    this.#waiting += text;
    if (this.#shown + this.#waiting.length > maxShown) this.#waiting = this.#waiting.slice(-maxLast);
    else this.#timer ??= setTimeout(() => void this.#show(), showEveryMs);
  }

  /** What is not on record yet, to be recorded with what comes next. */
  rest(): FactEvent[] {
    clearTimeout(this.#timer);
    const text = this.#waiting;
    this.#waiting = "";
    return text === "" ? [] : [{ type: "workspace.output", text }];
  }

  async #show(): Promise<void> {
    this.#timer = undefined;
    this.#shown += this.#waiting.length;
    const events = this.rest();
    try {
      await this.#services.store.change(this.#session, () => events);
    } catch (error) {
      // The worktree is made all the same.
      this.#services.log.warn("output could not be recorded", { session: this.#session, error: messageOf(error) });
    }
  }
}
