/** Waits for a condition with a deadline, never for a time. */
type Found<T> = Exclude<T, null | undefined | false>;

const shortestPauseMs = 15;
const longestPauseMs = 250;

export async function until<T>(what: string, look: () => T | Promise<T>, deadlineMs = 30_000): Promise<Found<T>> {
  const end = Date.now() + deadlineMs;
  let last: unknown;
  for (;;) {
    const from = performance.now();
    try {
      const found = await look();
      if (found !== null && found !== undefined && found !== false) return found as Found<T>;
      last = found;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end)
      throw new Error(`timed out after ${deadlineMs} ms waiting for ${what}; last: ${String(last)}`);
    // A check that starts a process, or reads every process, must not slow down what it waits for.
    const pause = Math.min(Math.max(performance.now() - from, shortestPauseMs), longestPauseMs);
    await new Promise((resume) => setTimeout(resume, pause));
  }
}
