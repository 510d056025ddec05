/** What the person typed behind a command's name, after parsing. */
export class Input {
  readonly args: readonly string[];
  readonly #options: ReadonlyMap<string, string | true>;

  constructor(args: readonly string[], options: ReadonlyMap<string, string | true>) {
    this.args = args;
    this.#options = options;
  }

  /** The argument at this place; the parser has seen to it that required ones are there. */
  arg(index: number): string {
    return this.args[index] ?? "";
  }

  flag(long: string): boolean {
    return this.#options.has(long);
  }

  text(long: string): string | undefined {
    const value = this.#options.get(long);
    return value === true ? undefined : value;
  }
}
