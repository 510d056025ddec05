/** Waits for a condition with a deadline, never for a time. */
type Found<T> = Exclude<T, null | undefined | false>;

export async function until<T>(what: string, look: () => T | Promise<T>, deadlineMs = 30_000): Promise<Found<T>> {
  const end = Date.now() + deadlineMs;
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found as Found<T>;
      last = found;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${deadlineMs} ms in vain for ${what}; last: ${String(last)}`);
    await new Promise((resume) => setTimeout(resume, 15));
  }
}
