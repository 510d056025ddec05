/** Request bodies are external: read field by field, and anything of another shape counts as absent. */
export type Json = Record<string, unknown>;

export function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The value at a path of field names, or undefined if one of them is missing. */
export function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((inner, name) => object(inner)[name], value);
}
