/**
 * Long work that somebody waits for at a terminal: after a moment stderr tells what is being done, and Ctrl-C says that it
 * goes on. A fast answer pays for a timer and a signal handler, nothing is loaded or asked for it.
 */
import type { Context } from "../../context.ts";
import type { Input } from "../../command.ts";

/** Shorter waits need no explanation; what scripts see of a fast spawn is its result alone. */
const silentMs = 1_000;

export interface Wait {
  verb: "spawn" | "restore";
  /** What is done until there is a session. */
  before: string;
  /** The session, once there is one. The context never starts a daemon. */
  find: (context: Context) => Promise<string | null>;
}

export class Waits {
  readonly #context: Context;
  readonly #open = new Set<Wait>();
  readonly #total: number;
  #begun = 0;
  #left = false;

  /** `total`: how many there will be. */
  constructor(context: Context, total = 1) {
    this.#context = context;
    this.#total = total;
  }

  async during<T>(wait: Wait, answer: Promise<T>): Promise<T> {
    this.#begun++;
    if (this.#open.size === 0) process.once("SIGINT", this.#leave);
    this.#open.add(wait);
    const over = new AbortController();
    const since = Date.now();
    const timer = setTimeout(() => void this.#tell(wait, since, over.signal), silentMs);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      over.abort();
      this.#open.delete(wait);
      // Who has left is not told the result as well: the signal ends this process.
      if (this.#left) await new Promise(() => undefined);
      if (this.#open.size === 0) process.off("SIGINT", this.#leave);
    }
  }

  async #tell(wait: Wait, since: number, over: AbortSignal): Promise<void> {
    if (!this.#context.isTerminal(2)) return;
    const { tellProgress } = await import("./progress.ts");
    await tellProgress(this.#context, wait, { among: this.#total > 1, since, over });
  }

  readonly #leave = (): void => {
    this.#left = true;
    const unasked = this.#total - this.#begun;
    void import("./progress.ts").then(({ tellLeft }) => tellLeft(this.#context, [...this.#open], unasked));
  };
}

/** For a verb that brings a session back: what is called in this context is waited for, unless nobody wants to. */
export function waitingBack(context: Context, input: Input, total = input.args.length): Context {
  if (input.flag("no-wait")) return context;
  const waits = new Waits(context, total);
  return {
    ...context,
    call: (route, options) => {
      const { id }: { id?: string } = options?.params ?? {};
      const answer = context.call(route, options);
      if (id === undefined) return answer;
      return waits.during({ verb: "restore", before: "", find: () => Promise.resolve(id) }, answer);
    },
  };
}
