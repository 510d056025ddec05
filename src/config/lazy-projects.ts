/**
 * Projects, with the schema and the YAML reader loaded when a file is first read: a starting daemon needs neither, and
 * they take a quarter of its start. What the files said of agents is kept by the files' stamps.
 */
import { statSync } from "node:fs";
import { lazy } from "../base/lazy.ts";
import type { ConfiguredAgents } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import type { ConfiguredProjects, OpenProjectsOptions } from "./projects.ts";
import { isSettled, stampOf, type FileStamp } from "./file.ts";

export interface LazyProjectsOptions extends OpenProjectsOptions {
  /** Where the agents of the files are kept between two starts. */
  kept: { get(): string | null; put(text: string): Promise<void> };
}

/** Definitions change with the program that made them, so `build` is part of what must be the same. */
interface Kept {
  build: string;
  /** Which project reads which file. */
  files: Record<string, string | null>;
  stamps: Record<string, string>;
  /** With another answer about a file its agents count, or no longer do. */
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
      // One that may still change within its own timestamp is read again the next time.
      const settled = [...stamps.values()].every((stamp) => isSettled(stamp, now));
      const text = JSON.stringify({ build, files, stamps: keys, trust, agents } satisfies Kept);
      // Only a saving of the next start: a full disk must not keep this one from coming up.
      if (settled) await options.kept.put(text).catch(() => undefined);
      return agents;
    },
  };
}

/** Of the files that are there, in the order in which they are read. */
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

function read(text: string | null): Kept | null {
  return text === null ? null : (JSON.parse(text) as Kept);
}
