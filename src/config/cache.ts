/** Configuration files as they are now, parsed only when they changed. */
import { stat } from "node:fs/promises";
import { interpret, type ConfigKind, type Loaded } from "./load.ts";
import { isSettled, stampOf } from "./file-stamp.ts";
import { readConfigFile } from "./read-file.ts";
import type { HoldfastConfig } from "./schema.ts";

interface Entry {
  key: string;
  settled: boolean;
  loaded: Loaded<HoldfastConfig>;
}

export class ConfigCache {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async load(file: string, kind: ConfigKind = "project"): Promise<Loaded<HoldfastConfig>> {
    const entry = this.#entries.get(file);
    if (entry?.settled === true && entry.key === (await keyOf(file))) return entry.loaded;
    const startedAt = this.#now();
    const read = await readConfigFile(file);
    const loaded = await interpret(file, read, kind);
    const stamp = read.is === "absent" ? null : read.stamp;
    if (stamp === null) this.#entries.delete(file);
    else this.#entries.set(file, { key: stamp.key, settled: isSettled(stamp, startedAt), loaded });
    return loaded;
  }
}

async function keyOf(file: string): Promise<string | null> {
  try {
    return stampOf(await stat(file, { bigint: true })).key;
  } catch {
    return null;
  }
}
