/**
 * What a project's files said when they could last be read. A session that exists must not depend on a holdfast.yaml that
 * somebody is editing, so the last good settings are kept beside it; only a new session insists on the file as it is now.
 */
import type { ProjectSettings } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import { HoldfastError } from "../protocol/error.ts";
import type { ProjectId } from "../protocol/ids.ts";
import type { Parts } from "./parts.ts";

export interface KnownSettings {
  /** As the file is now; throws where it is wrong. */
  read(row: ProjectRow): Promise<ProjectSettings>;
  /** As the file is now, or as it was when it could last be read. */
  forSession(project: ProjectId): Promise<ProjectSettings>;
  /** Without reading any file. */
  last(project: ProjectId): ProjectSettings | null;
}

function kept(text: string): ProjectSettings {
  const settings = JSON.parse(text) as Omit<ProjectSettings, "passEnv"> & { passEnv?: string[] };
  return { ...settings, passEnv: settings.passEnv ?? [] };
}

export function knownSettings(parts: Pick<Parts, "store" | "projects" | "log">): KnownSettings {
  const { store, projects, log } = parts;
  const key = (project: ProjectId): string => `project.${project}.settings`;
  const remembered = new Map<ProjectId, ProjectSettings | null>();

  const last = (project: ProjectId): ProjectSettings | null => {
    if (!remembered.has(project)) {
      const text = store.getSetting(key(project));
      // An earlier build kept no agents, and knew no passEnv.
      remembered.set(project, text === null ? null : kept(text));
    }
    return remembered.get(project) ?? null;
  };
  const read = async (row: ProjectRow): Promise<ProjectSettings> => {
    const settings = await projects.settings(row);
    const text = JSON.stringify(settings);
    if (text !== JSON.stringify(last(row.id))) await store.putSetting(key(row.id), text);
    remembered.set(row.id, settings);
    return settings;
  };
  return {
    read,
    last,
    forSession: async (project) => {
      const row = store.projects().find(({ id }) => id === project);
      const before = last(project);
      if (row === undefined) {
        if (before !== null) return before;
        throw new HoldfastError("not-found", `Unknown project: ${project}`);
      }
      try {
        return await read(row);
      } catch (error) {
        if (before === null) throw error;
        log.warn("a project's configuration cannot be read; its last good one is used", { project, error });
        return before;
      }
    },
  };
}
