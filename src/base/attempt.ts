/** For files and processes that may be gone: the result, or another value if it cannot be had. */
export function attempt<T, U>(read: () => T, otherwise: U): T | U {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** A JSON object; null if the text is damaged or another value. */
export function parseObject(text: string): Record<string, unknown> | null {
  const value: unknown = attempt(() => JSON.parse(text), null);
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
