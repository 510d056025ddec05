/**
 * Waits for spawns and restores at a terminal: after a moment stderr shows the progress, and Ctrl-C prints that the work
 * continues. A fast response costs a timer and a signal handler.
 */
import type { Context } from "../../context.ts";
import type { Input } from "../../command.ts";

/** Shorter waits need no explanation. */
const silentMs = 1_000;

export interface Wait {
  verb: "spawn" | "restore";
  /** Printed until the session exists. */
  before: string;
  /** The session id, once known. The context never starts a daemon. */
  find: (context: Context) => Promise<string | null>;
}

export class Waits {
  readonly #context: Context;
  readonly #open = new Set<Wait>();
  readonly #total: number;
  #requested = 0;
  #left = false;

  /** `total`: the number of sessions. */
  constructor(context: Context, total = 1) {
    this.#context = context;
    this.#total = total;
  }

  async during<T>(wait: Wait, response: Promise<T>): Promise<T> {
    this.#requested++;
    if (this.#open.size === 0) process.once("SIGINT", this.#leave);
    this.#open.add(wait);
    const over = new AbortController();
    const since = Date.now();
    const timer = setTimeout(() => void this.#printProgress(wait, since, over.signal), silentMs);
    try {
      return await response;
    } finally {
      clearTimeout(timer);
      over.abort();
      this.#open.delete(wait);
      // After Ctrl-C no result is printed: the signal ends this process.
      if (this.#left) await new Promise(() => undefined);
      if (this.#open.size === 0) process.off("SIGINT", this.#leave);
    }
  }

  async #printProgress(wait: Wait, since: number, over: AbortSignal): Promise<void> {
    if (!this.#context.isTerminal(2)) return;
    const { printProgress } = await import("./progress.ts");
    await printProgress(this.#context, wait, { among: this.#total > 1, since, over });
  }

  readonly #leave = (): void => {
    this.#left = true;
    const unrequested = this.#total - this.#requested;
    void import("./progress.ts").then(({ printLeft }) => printLeft(this.#context, [...this.#open], unrequested));
  };
}

/** A context for verbs that start sessions: its calls show progress and handle Ctrl-C, unless `--no-wait`. */
export function waitingBack(context: Context, input: Input, total = input.args.length): Context {
  if (input.flag("no-wait")) return context;
  const waits = new Waits(context, total);
  return {
    ...context,
    call: (route, options) => {
      const { id }: { id?: string } = options?.params ?? {};
      const response = context.call(route, options);
      if (id === undefined) return response;
      return waits.during({ verb: "restore", before: "", find: () => Promise.resolve(id) }, response);
    },
  };
}
