/** Who closes what: everything that is opened is handed to one owner, which closes it all, last opened first. */
type Close = () => void | Promise<void>;

export class Owner {
  #closers: { name: string; close: Close }[] = [];
  #closing: Promise<void> | undefined;

  owns(name: string, close: Close): void {
    if (this.#closing !== undefined) throw new Error(`${name} was opened after its owner closed`);
    this.#closers.push({ name, close });
  }

  /** Closes everything even when some of it fails, then throws what failed. Safe to call twice. */
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
    if (failures.length > 0) throw new AggregateError(failures, "not everything could be closed");
  }
}
