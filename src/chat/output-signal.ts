/** Lets a caller wait until something was read of a session, and then look for itself. */
import type { SessionId } from "../contract/ids.ts";

export class Changes {
  readonly #waiting = new Map<SessionId, Set<() => void>>();

  tell(session: SessionId): void {
    const waiting = this.#waiting.get(session);
    this.#waiting.delete(session);
    for (const resume of waiting ?? []) resume();
  }

  /** Resolves at the next change, or after so many milliseconds. */
  next(session: SessionId, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(session) ?? new Set();
      const resume = (): void => {
        clearTimeout(timer);
        waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, ms);
      waiting.add(resume);
      this.#waiting.set(session, waiting);
    });
  }
}
