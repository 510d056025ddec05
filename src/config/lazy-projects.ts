/**
 * Loads the schema and the YAML reader when a file is first read: they would take a quarter of the daemon's start. The
 * agents of the files are cached by the files' stamps.
 */
import { statSync } from "node:fs";
import { lazy } from "../base/lazy.ts";
import type { ConfiguredAgents } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import type { ConfiguredProjects, OpenProjectsOptions } from "./projects.ts";
import { isSettled, stampOf, type FileStamp } from "./file.ts";

export interface LazyProjectsOptions extends OpenProjectsOptions {
  /** Stores the cache between starts. */
  kept: { get(): string | null; put(text: string): Promise<void> };
}

/** Definitions change with the program, so `build` is part of the key. */
interface CachedAgents {
  build: string;
  /** Which project reads which file. */
  files: Record<string, string | null>;
  stamps: Record<string, string>;
  /** Trusting a file, or not, changes which agents count. */
  trust: string;
  agents: ConfiguredAgents;
}

export function openLazyProjects(options: LazyProjectsOptions, build: string): ConfiguredProjects {
  const open = lazy(async () => (await import("./projects.ts")).openProjects(options));
  return {
    at: async (...given) => (await open()).at(...given),
    settings: async (row) => (await open()).settings(row),
    trustOf: async (row) => (await open()).trustOf(row),
    trustAt: async (path) => (await open()).trustAt(path),
    agents: async (rows) => {
      const now = (options.now ?? Date.now)();
      const stamps = stampsOf(options.userConfig, rows);
      const files = Object.fromEntries(rows.map(({ id, configFile }) => [id, configFile]));
      const none = { user: [], projects: Object.fromEntries(rows.map(({ id }) => [id, []])) };
      if (stamps.size === 0 && rows.every(({ configFile }) => configFile === null)) return none;
      const keys = Object.fromEntries([...stamps].map(([file, stamp]) => [file, stamp.key]));
      const kept = read(options.kept.get());
      const trust = options.trust.revision();
      const isKept = kept?.build === build && isSame([kept.files, kept.stamps, kept.trust], [files, keys, trust]);
      if (isKept) return kept.agents;
      const agents = await (await open()).agents(rows);
      // A file that may still change within its timestamp is read again next time.
      const settled = [...stamps.values()].every((stamp) => isSettled(stamp, now));
      const text = JSON.stringify({ build, files, stamps: keys, trust, agents } satisfies CachedAgents);
      // Only speeds up the next start: a full disk must not fail this one.
      if (settled) await options.kept.put(text).catch(() => undefined);
      return agents;
    },
  };
}

/** Of the existing files, in reading order. */
function stampsOf(userConfig: string, rows: readonly ProjectRow[]): Map<string, FileStamp> {
  const files = new Set([userConfig, ...rows.flatMap((row) => row.configFile ?? [])]);
  return new Map(
    [...files].flatMap((file) => {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? [] : [[file, stampOf(stat)] as const];
    }),
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function read(text: string | null): CachedAgents | null {
  return text === null ? null : (JSON.parse(text) as CachedAgents);
}
