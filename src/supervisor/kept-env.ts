/**
 * Values of projects' `env` as their files said last, so that a session comes back while its file is broken. They may be
 * secrets: kept in a file of the home that only its owner reads, and out of the database and its backups.
 */
import { readJson, writeDurable } from "../base/durable-file.ts";
import type { Logger } from "../ports/api.ts";

type Values = Record<string, string>;

export interface KeptEnv {
  of(project: string): Values;
  keep(project: string, values: Values): void;
}

export function openKeptEnv(file: string, log: Pick<Logger, "warn">): KeptEnv {
  let all: Map<string, Values> | null = null;
  const read = (): Map<string, Values> => {
    if (all !== null) return all;
    const found = readJson(file);
    if (found.is === "damaged") log.warn("kept values of projects' env cannot be read", { why: found.why });
    return (all = new Map(found.is === "known" ? Object.entries(found.value as Record<string, Values>) : []));
  };
  return {
    of: (project) => read().get(project) ?? {},
    keep: (project, values) => {
      const before = read().get(project) ?? {};
      if (JSON.stringify(before) === JSON.stringify(values)) return;
      const next = new Map(read());
      if (Object.keys(values).length === 0) next.delete(project);
      else next.set(project, values);
      try {
        writeDurable(file, `${JSON.stringify(Object.fromEntries(next))}\n`);
        all = next;
      } catch (error) {
        // The file is what counts; this is for the time when it is broken.
        log.warn("values of a project's env could not be kept", { project, error });
      }
    },
  };
}
