/** Registered projects, as clients see them. */
import { isCleared } from "../model/runs.ts";
import type { ApiRequest } from "../ports/api.ts";
import type { ProjectRow } from "../ports/store.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { ProjectJson } from "../contract/project.ts";
import type { Services } from "../supervisor/services.ts";

export function findProject(parts: Services, id: string): ProjectRow {
  const row = parts.store.projects().find((project) => project.id === id);
  if (row !== undefined) return row;
  const known = parts.store.projects().map((project) => project.id);
  throw new HoldfastError("not-found", `Unknown project: ${id}`, {
    hint: known.length === 0 ? "No project is registered." : `Registered projects: ${known.join(", ")}.`,
  });
}

export async function projectJson(parts: Services, row: ProjectRow): Promise<ProjectJson> {
  const { id, path, prefix, defaultBranch, agent, kind, tracker, trust } = await parts.settings.forSession(row.id);
  const sessions = parts.store.sessions().filter((session) => session.project === row.id).length;
  return {
    id,
    path,
    prefix,
    defaultBranch,
    agent,
    kind,
    tracker,
    configFile: row.configFile,
    sessions,
    trust: trust.state,
    notices: trust.notices,
  };
}

/** What is registered, where the project's file was never readable. */
export function bareProject(parts: Services, row: ProjectRow): ProjectJson {
  const { id, path, prefix, configFile } = row;
  const sessions = parts.store.sessions().filter((session) => session.project === id).length;
  return { id, path, prefix, configFile, sessions, defaultBranch: "", agent: "", kind: "terminal", tracker: null };
}

export async function removeProject(parts: Services, ask: ApiRequest<"projectRemove">): Promise<ProjectJson> {
  const row = findProject(parts, ask.params.id);
  const { id } = row;
  const using = [...parts.store.sessions(), ...parts.store.deleting()]
    .filter((session) => session.project === id && !isCleared(session))
    .map((session) => session.id);
  if (using.length > 0) {
    throw new HoldfastError("conflict", `${id} still has sessions: ${using.join(", ")}.`, {
      hint: "Kill or delete them first; nothing was removed.",
    });
  }
  const json = await projectJson(parts, row).catch(() => bareProject(parts, row));
  await parts.store.removeProject(row.id);
  return json;
}
