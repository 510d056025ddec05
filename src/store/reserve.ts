/**
 * A file that only reserves space: when the disk is full, deleting it makes room to record that a session should stop
 * [DAEMON-23]. Until it is restored only such records are written, so other writes cannot use the space.
 */
import { randomBytes } from "node:crypto";
import { rmSync, statSync, statfsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Space for some hundred kills with all that follows from them. */
export const reserveBytes = 1024 * 1024;

/** Restored only when this much is free, to avoid deleting and restoring it in turns. */
const refillFreeBytes = 8 * reserveBytes;

export class Reserve {
  readonly #path: string | null;
  readonly #freeBytes: () => number;
  #spent = false;

  constructor(path: string | null, freeBytes?: () => number) {
    this.#path = path;
    this.#freeBytes = freeBytes ?? (() => (path === null ? Infinity : freeBytesBeside(path)));
    if (path === null || statSync(path, { throwIfNoEntry: false })?.size === reserveBytes) return;
    this.#spent = !make(path);
  }

  /** Whether ordinary writes may proceed; restores the reserve if there is enough space. */
  ready(): boolean {
    if (!this.#spent || this.#path === null) return true;
    if (this.#freeBytes() < refillFreeBytes) return false;
    this.#spent = !make(this.#path);
    return !this.#spent;
  }

  release(): void {
    if (this.#path === null) return;
    this.#spent = true;
    rmSync(this.#path, { force: true });
  }
}

/** Random bytes: a file system that stores holes or compresses zeros would reserve nothing. */
function make(path: string): boolean {
  try {
    writeFileSync(path, randomBytes(reserveBytes), { mode: 0o600, flush: true });
    return true;
  } catch {
    try {
      rmSync(path, { force: true });
    } catch {
      // Nothing to free on a disk that accepts no writes.
    }
    return false;
  }
}

function freeBytesBeside(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize;
  } catch {
    return 0;
  }
}
