/** What the supervisor knows of worktrees: their paths and plans, and how long the trash keeps them. Days in the trash are counted in the store, so that a wrong clock alone cannot empty it. */
import { daysInTrash, isExpired, keptUntil, readSeenDays, seeTrash } from "../model/trash-days.ts";
import type { TrashEntry, WorktreePlan } from "../ports/worktree.ts";
import type { Services } from "./services.ts";
import { join } from "node:path";
import { passedOn } from "../base/clean-env.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { ProjectId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";

const setting = "trash.days";

const readingMs = 1_000;

type Counted = Pick<Services, "store" | "clock" | "workspaces">;

/** Updates the count of days; returns the entries whose time in the trash is over. */
export async function expiredTrash(services: Counted, entries: readonly TrashEntry[]): Promise<TrashEntry[]> {
  const { store, clock, workspaces } = services;
  const reading = { boot: clock.bootId(), up: clock.uptime(), wall: clock.now() };
  // The machine slept between the two readings, which would look like a jump of the clock. The next run is a minute away.
  if (clock.uptime() - reading.up > readingMs) return [];
  const before = readSeenDays(store.getSetting(setting));
  const seen = seeTrash(
    before,
    reading,
    entries.map(({ id }) => id),
  );
  if (seen !== before) await store.putSetting(setting, JSON.stringify(seen));
  return entries.filter(({ id }) => isExpired(seen, reading, id, workspaces.trashDays));
}

/** How many days each entry has been in the trash. */
export function trashDaysOf({ store }: Pick<Counted, "store">): (entry: TrashEntry) => number {
  const seen = readSeenDays(store.getSetting(setting));
  return ({ id }) => daysInTrash(seen, id);
}

/** The date from which each entry may be removed. */
export function trashUntil({ store, clock, workspaces }: Counted): (entry: TrashEntry) => string {
  const seen = readSeenDays(store.getSetting(setting));
  return ({ id }) => keptUntil(seen, clock.now(), id, workspaces.trashDays);
}

export function workspacePath(services: Pick<Services, "worktrees">, project: ProjectId, session: SessionId): string {
  return join(services.worktrees, project, session);
}

export async function planFor(services: Pick<Services, "settings">, session: SessionState): Promise<WorktreePlan> {
  return planWith(await services.settings.forSession(session.project), session);
}

export function planWith(
  settings: ProjectSettings,
  session: Pick<SessionState, "id" | "workspacePath" | "branch" | "base">,
): WorktreePlan {
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

export async function emptyEntry(
  services: Pick<Services, "store" | "workspaces">,
  entry: TrashEntry,
  reason: string,
): Promise<void> {
  await services.workspaces.empty(entry.id);
  const owner = services.store.session(entry.session);
  if (owner?.workspace.at !== "trashed" || owner.workspace.trash !== entry.id) return;
  await services.store.commit(owner.id, () => [{ type: "workspace.gone", reason }]);
}
