/**
 * The newest commits as they were written. Followers read them within milliseconds: reading them back would check and
 * parse each event again, which costs more than storing it.
 */
import type { LogEntry } from "../contract/event.ts";
import type { SessionId } from "../contract/ids.ts";

/** Two batches of an agent's output; one may still be read while the next is committed. */
const keptBytes = 8 * 1024 * 1024;
/** Memory is freed after a burst. */
const keptMs = 1_000;

interface Commit {
  entries: readonly LogEntry[];
  bytes: number;
}

export class Recent {
  #commits: Commit[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isNews = false;

  /** Entries of one commit, in cursor order. Entries that do not continue the kept ones replace them. */
  add({ entries, bytes }: Commit): void {
    const [first] = entries;
    if (first === undefined) return;
    if (this.#commits.at(-1)?.entries.at(-1)?.cursor !== first.cursor - 1) this.clear();
    this.#commits.push({ entries, bytes });
    this.#bytes += bytes;
    while (this.#bytes > keptBytes) this.#bytes -= this.#commits.shift()!.bytes;
    this.#isNews = true;
    this.#timer ??= setInterval(() => this.#tire(), keptMs).unref();
  }

  /** At most `limit` entries after a cursor; null if not all of them are kept here. */
  read(after: number, limit: number, session?: SessionId): LogEntry[] | null {
    const oldest = this.#commits[0]?.entries[0]?.cursor;
    if (oldest === undefined || after < oldest - 1) return null;
    const found: LogEntry[] = [];
    for (const { entries } of this.#commits) {
      const from = Math.max(0, after + 1 - entries[0]!.cursor);
      for (let index = from; index < entries.length && found.length < limit; index++) {
        const entry = entries[index]!;
        if (session === undefined || entry.session === session) found.push(entry);
      }
    }
    return found;
  }

  clear(): void {
    this.#commits = [];
    this.#bytes = 0;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tire(): void {
    if (!this.#isNews) this.clear();
    this.#isNews = false;
  }
}
