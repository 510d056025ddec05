/** Where a session's worktree goes and what it is made from: computed from the session and its project, the same every time. */
import { join } from "node:path";
import { passedOn } from "../base/clean-env.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { WorkspacePlan } from "../ports/worktree.ts";
import type { ProjectId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { Services } from "./services.ts";

export function workspacePath(services: Pick<Services, "worktrees">, project: ProjectId, session: SessionId): string {
  return join(services.worktrees, project, session);
}

export async function planFor(services: Pick<Services, "settings">, session: SessionState): Promise<WorkspacePlan> {
  return planWith(await services.settings.forSession(session.project), session);
}

export function planWith(
  settings: ProjectSettings,
  session: Pick<SessionState, "id" | "workspacePath" | "branch" | "base">,
): WorkspacePlan {
  return {
    session: session.id,
    repository: settings.path,
    path: session.workspacePath,
    branch: session.branch,
    base: session.base === "" ? null : session.base,
    defaultBranch: settings.defaultBranch,
    symlinks: settings.symlinks,
    copy: settings.copy,
    postCreate: settings.postCreate,
    env: { ...passedOn(process.env, settings.passEnv), ...settings.env },
  };
}

export async function repositoryOf(services: Pick<Services, "settings">, session: SessionState): Promise<string> {
  return (await services.settings.forSession(session.project)).path;
}
