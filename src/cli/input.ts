/** Of an option: that it was given, its value, or its values. */
export type Given = string | true | readonly string[];

/** What the person typed behind a command's name, after parsing. */
export class Input {
  readonly args: readonly string[];
  readonly #options: ReadonlyMap<string, Given>;

  constructor(args: readonly string[], options: ReadonlyMap<string, Given>) {
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
    return typeof value === "string" ? value : undefined;
  }

  /** All values of an option that may be given several times. */
  list(long: string): readonly string[] {
    const value = this.#options.get(long);
    return typeof value === "object" ? value : [];
  }
}
