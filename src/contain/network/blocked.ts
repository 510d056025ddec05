/**
 * A session's blocked connections, bounded: an agent that tries a thousand hosts fills neither the disk nor the
 * transcript. The proxy writes the file, the daemon reads it.
 */
import { readJson, writeAtomically } from "../../base/durable-file.ts";
import type { BlockedHost } from "../../ports/network.ts";

export type WhyBlocked = BlockedHost["why"];

export interface Blocked extends BlockedHost {
  count: number;
  firstAt: number;
  lastAt: number;
}

export interface BlockedFile {
  blocked: Blocked[];
  /** Blocked hosts beyond the limit. */
  more: number;
}

const mostEntries = 100;
const writeEveryMs = 500;

export class BlockedRecord {
  readonly #path: string;
  readonly #known = new Map<string, Blocked>();
  #more = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Continues the file of an earlier proxy. */
  constructor(path: string) {
    this.#path = path;
    const before = readBlocked(path);
    for (const entry of before.blocked) this.#known.set(keyOf(entry), entry);
    this.#more = before.more;
  }

  add(host: string, port: number, why: WhyBlocked, at: number): void {
    const key = keyOf({ host, port, why });
    const known = this.#known.get(key);
    if (known !== undefined) {
      known.count += 1;
      known.lastAt = at;
    } else if (this.#known.size < mostEntries) {
      this.#known.set(key, { host, port, why, count: 1, firstAt: at, lastAt: at });
    } else {
      this.#more += 1;
    }
    this.#timer ??= setTimeout(() => this.write(), writeEveryMs);
  }

  write(): void {
    clearTimeout(this.#timer);
    if (this.#timer === undefined) return;
    this.#timer = undefined;
    try {
      writeAtomically(this.#path, `${JSON.stringify({ blocked: [...this.#known.values()], more: this.#more })}\n`);
    } catch {
      // A full disk, or the folder was removed with its session: the connection is blocked anyway.
    }
  }
}

const keyOf = ({ host, port, why }: BlockedHost): string => `${host} ${port} ${why}`;

/** Empty if there is no readable file. */
export function readBlocked(path: string): BlockedFile {
  const read = readJson(path);
  const value = read.is === "known" ? (read.value as Partial<BlockedFile>) : {};
  if (!Array.isArray(value.blocked) || typeof value.more !== "number") return { blocked: [], more: 0 };
  return { blocked: value.blocked.slice(0, mostEntries), more: value.more };
}
