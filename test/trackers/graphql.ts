/**
 * As much of GraphQL as our queries need: variables, aliases, arguments and fragments. Like the real
 * servers it refuses a document that names an unknown field or argument, and reports a failing
 * field by its path while the others are answered.
 */
export interface GraphqlError {
  message: string;
  type?: string;
  path?: (string | number)[];
  extensions?: Record<string, unknown>;
}

export interface GraphqlReply {
  data?: unknown;
  errors?: GraphqlError[];
}

type Arguments = Record<string, unknown>;
interface Field {
  accepts: readonly string[];
  resolve: (args: Arguments) => unknown;
}
/** An object of a type: plain values, other objects, lists, and fields with arguments made by `field`. */
export interface Typed {
  __typename: string;
  [name: string]: unknown;
}

/** Thrown by a resolver: this field is null and the error is in the list. */
export class FieldError extends Error {
  readonly more: Partial<GraphqlError>;

  constructor(message: string, more: Partial<GraphqlError> = {}) {
    super(message);
    this.more = more;
  }
}

class DocumentError extends Error {}
const fieldMark = Symbol("field");

export function field(accepts: readonly string[], resolve: (args: Arguments) => unknown): unknown {
  return { [fieldMark]: { accepts, resolve } satisfies Field };
}

/** `nonNull`: a failing top-level field makes all data null, as if the schema declared it non-null. */
export function execute(body: string, root: Typed, options: { nonNull?: boolean } = {}): GraphqlReply {
  try {
    const request = JSON.parse(body) as { query: string; variables?: Arguments };
    const { selection, fragments, defaults } = new Parser(request.query).document();
    const errors: GraphqlError[] = [];
    const run = new Run({ ...defaults, ...request.variables }, fragments, errors);
    const data = run.object(root, selection, []);
    if (errors.length === 0) return { data };
    return { data: options.nonNull === true ? null : data, errors };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return { errors: [{ message: error.message }] };
  }
}

type Value = { variable: string } | { value: unknown } | { list: Value[] } | { object: [string, Value][] };
type Selection =
  | { is: "field"; alias: string; name: string; args: [string, Value][]; selection: Selection[] | null }
  | { is: "spread"; name: string }
  | { is: "inline"; on: string; selection: Selection[] };

type Fragments = Map<string, { on: string; selection: Selection[] }>;

class Run {
  readonly #variables: Arguments;
  readonly #fragments: Fragments;
  readonly #errors: GraphqlError[];

  constructor(variables: Arguments, fragments: Fragments, errors: GraphqlError[]) {
    this.#variables = variables;
    this.#fragments = fragments;
    this.#errors = errors;
  }

  object(on: Typed, selection: Selection[], path: (string | number)[]): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    for (const one of selection) {
      if (one.is === "field") {
        result[one.alias] = this.#field(on, one, [...path, one.alias]);
        continue;
      }
      const part = one.is === "inline" ? one : this.#fragments.get(one.name);
      if (part === undefined)
        throw new DocumentError(`Fragment ${(one as { name: string }).name} was used, but not defined`);
      if (part.on === on.__typename) Object.assign(result, this.object(on, part.selection, path));
    }
    return result;
  }

  #field(on: Typed, one: Selection & { is: "field" }, path: (string | number)[]): unknown {
    if (!(one.name in on)) throw new DocumentError(`Field '${one.name}' doesn't exist on type '${on.__typename}'`);
    let value = on[one.name];
    const withArguments = (value as Record<symbol, Field> | null)?.[fieldMark];
    const args = Object.fromEntries(one.args.map(([name, given]) => [name, this.#value(given)]));
    for (const name of Object.keys(args)) {
      if (withArguments?.accepts.includes(name) !== true) {
        throw new DocumentError(`Field '${one.name}' doesn't accept argument '${name}'`);
      }
    }
    if (withArguments !== undefined) {
      try {
        value = withArguments.resolve(args);
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        this.#errors.push({ message: error.message, path, ...error.more });
        return null;
      }
    }
    return this.#complete(value, one, path);
  }

  #complete(value: unknown, one: Selection & { is: "field" }, path: (string | number)[]): unknown {
    if (value === null || value === undefined) return null;
    if (Array.isArray(value)) return value.map((item, index) => this.#complete(item, one, [...path, index]));
    if (typeof value === "object") {
      if (one.selection === null) throw new DocumentError(`Field '${one.name}' must have a selection of subfields`);
      return this.object(value as Typed, one.selection, path);
    }
    if (one.selection !== null) throw new DocumentError(`Field '${one.name}' has no subfields`);
    return value;
  }

  #value(given: Value): unknown {
    if ("variable" in given) {
      if (!(given.variable in this.#variables)) throw new DocumentError(`Variable $${given.variable} is not provided`);
      return this.#variables[given.variable];
    }
    if ("list" in given) return given.list.map((one) => this.#value(one));
    if ("object" in given) return Object.fromEntries(given.object.map(([name, one]) => [name, this.#value(one)]));
    return given.value;
  }
}

class Parser {
  readonly #tokens: string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(/\.\.\.|[A-Za-z_]\w*|-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|[{}()[\]:$!=@|&]/g) ?? [];
  }

  document(): { selection: Selection[]; fragments: Fragments; defaults: Arguments } {
    const fragments: Fragments = new Map();
    const defaults: Arguments = {};
    let selection: Selection[] | null = null;
    while (this.#at < this.#tokens.length) {
      if (this.#take("fragment")) {
        const name = this.#next();
        this.#expect("on");
        const on = this.#next();
        fragments.set(name, { on, selection: this.#selection() });
        continue;
      }
      if (this.#peek() !== "{") this.#heading(defaults);
      selection = this.#selection();
    }
    if (selection === null) throw new DocumentError("Unexpected end of document");
    return { selection, fragments, defaults };
  }

  /** `query Name($a: Type! = default, …)`: types are not checked. */
  #heading(defaults: Arguments): void {
    this.#expect("query");
    if (this.#peek() !== "(" && this.#peek() !== "{") this.#next();
    if (!this.#take("(")) return;
    while (!this.#take(")")) {
      this.#expect("$");
      const name = this.#next();
      this.#expect(":");
      while (["[", "]", "!"].includes(this.#peek()) || /^[A-Za-z_]/.test(this.#peek())) this.#next();
      if (this.#take("=")) defaults[name] = (this.#value() as { value: unknown }).value;
    }
  }

  #selection(): Selection[] {
    this.#expect("{");
    const found: Selection[] = [];
    while (!this.#take("}")) {
      if (this.#take("...")) {
        if (this.#take("on")) found.push({ is: "inline", on: this.#next(), selection: this.#selection() });
        else found.push({ is: "spread", name: this.#next() });
        continue;
      }
      const first = this.#next();
      const name = this.#take(":") ? this.#next() : first;
      const args: [string, Value][] = [];
      if (this.#take("(")) {
        while (!this.#take(")")) {
          const key = this.#next();
          this.#expect(":");
          args.push([key, this.#value()]);
        }
      }
      found.push({ is: "field", alias: first, name, args, selection: this.#peek() === "{" ? this.#selection() : null });
    }
    return found;
  }

  #value(): Value {
    if (this.#take("$")) return { variable: this.#next() };
    if (this.#take("[")) {
      const list: Value[] = [];
      while (!this.#take("]")) list.push(this.#value());
      return { list };
    }
    if (this.#take("{")) {
      const object: [string, Value][] = [];
      while (!this.#take("}")) {
        const key = this.#next();
        this.#expect(":");
        object.push([key, this.#value()]);
      }
      return { object };
    }
    const token = this.#next();
    if (token.startsWith('"')) return { value: JSON.parse(token) as string };
    if (/^-?\d/.test(token)) return { value: Number(token) };
    if (token === "true" || token === "false") return { value: token === "true" };
    return { value: token === "null" ? null : token };
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #next(): string {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new DocumentError("Unexpected end of document");
    return token;
  }

  #take(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    const found = this.#next();
    if (found !== token) throw new DocumentError(`Expected "${token}" but found "${found}"`);
  }
}
