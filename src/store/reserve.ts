/**
 * A file whose only use is to be given back: when the disk is full, removing it makes room to record that a session is
 * to end [DB-5]. While it is spent, only such records are written, so that other traffic cannot eat the room.
 */
import { crypto } from "../base/digest.ts";
import { rmSync, statSync, statfsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Room for some hundred kills with all that follows from them. */
export const reserveBytes = 1024 * 1024;

/** Made again only when this much is free, so that it is not taken and given back in turns. */
const refillFreeBytes = 8 * reserveBytes;

export class Reserve {
  readonly #path: string | null;
  readonly #freeBytes: () => number;
  #spent = false;

  constructor(path: string | null, freeBytes?: () => number) {
    this.#path = path;
    this.#freeBytes = freeBytes ?? (() => (path === null ? Infinity : freeBytesBeside(path)));
    if (path !== null && !isWhole(path)) this.#spent = !make(path);
  }

  /** Whether ordinary writes may go on; takes the room again where there is enough of it. */
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

function isWhole(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === reserveBytes;
}

/** Real bytes that cannot be compressed: a file system that stores holes or packs zeros would reserve nothing. */
function make(path: string): boolean {
  try {
    writeFileSync(path, crypto().randomBytes(reserveBytes), { mode: 0o600, flush: true });
    return true;
  } catch {
    try {
      rmSync(path, { force: true });
    } catch {
      // A disk that takes nothing gives nothing back either.
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
