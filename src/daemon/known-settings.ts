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

export function knownSettings(parts: Pick<Parts, "store" | "projects" | "log">): KnownSettings {
  const { store, projects, log } = parts;
  const key = (project: ProjectId): string => `project.${project}.settings`;
  const remembered = new Map<ProjectId, ProjectSettings | null>();

  const last = (project: ProjectId): ProjectSettings | null => {
    if (!remembered.has(project)) {
      const text = store.getSetting(key(project));
      remembered.set(project, text === null ? null : (JSON.parse(text) as ProjectSettings));
    }
    return remembered.get(project) ?? null;
  };
  const read = async (row: ProjectRow): Promise<ProjectSettings> => {
    const settings = await projects.settings(row);
    // Patterns of agents cannot be kept as text; agents are read from the file again.
    const text = JSON.stringify({ ...settings, agents: [] });
    if (text !== JSON.stringify({ ...last(row.id), agents: [] })) await store.putSetting(key(row.id), text);
    remembered.set(row.id, settings);
    return settings;
  };
  return {
    read,
    last,
    forSession: async (project) => {
      const row = store.projects().find(({ id }) => id === project);
      const kept = last(project);
      if (row === undefined) {
        if (kept !== null) return kept;
        throw new HoldfastError("not-found", `Unknown project: ${project}`);
      }
      try {
        return await read(row);
      } catch (error) {
        if (kept === null) throw error;
        log.warn("a project's configuration cannot be read; its last good one is used", { project, error });
        return kept;
      }
    },
  };
}
