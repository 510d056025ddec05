/** Named barriers: a reply waits at a gate until it is opened; an opened gate stays open. */
export class Gates {
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  open(name: string): void {
    this.#gate(name).resolve();
  }

  async pass(name: string, signal: AbortSignal): Promise<void> {
    await Promise.race([this.#gate(name).promise, aborted(signal)]);
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }
}

/** Rejects when the signal aborts, and never resolves. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error("the client is gone"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
}
