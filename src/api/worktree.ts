/** The contents of a session's worktree, in use or in the trash. Reads only. */
import { HoldfastError } from "../contract/errors.ts";
import type { WorkJson } from "../contract/worktree.ts";
import type { SessionState } from "../model/session.ts";
import type { Handlers } from "../ports/api.ts";
import type { Against } from "../ports/worktree.ts";
import type { Services } from "../supervisor/services.ts";
import { trashUntil } from "../supervisor/worktrees.ts";
import { findSession, integer } from "./find.ts";

/** For a list that opens while the user types. */
const defaultFiles = 50;
const maxFiles = 1_000;

type Needs = Pick<Services, "store" | "workspaces" | "settings" | "clock">;

export function worktreeHandlers(services: Needs): Handlers<"changes" | "patch" | "files" | "work"> {
  const { workspaces, settings } = services;
  const against = ({ base, project }: SessionState): Against => ({
    base,
    defaultBranch: settings.last(project)?.defaultBranch ?? null,
  });
  return {
    changes: async (request) => {
      const session = findSession(services, request);
      return workspaces.changes(await treeOf(services, session), against(session));
    },
    patch: async (request) => {
      const session = findSession(services, request);
      return workspaces.patch(await treeOf(services, session), against(session), request.query.path ?? null);
    },
    files: async (request) => {
      const session = findSession(services, request);
      const limit = integer("limit", request.query.limit, defaultFiles);
      const query = (request.query.query ?? "").trim();
      return workspaces.files(await treeOf(services, session), query, Math.min(limit, maxFiles));
    },
    work: (request) => workOf(services, findSession(services, request)),
  };
}

/** Before a kill or a delete: the work that would move to the trash. */
async function workOf(services: Needs, session: SessionState): Promise<WorkJson> {
  const { workspace, id, workspacePath: path } = session;
  const { workspaces } = services;
  const nothing = { uncommitted: 0, unpushed: [] };
  if (workspace.at === "planned") return { ...nothing, where: "The worktree has not been created yet." };
  if (workspace.at === "gone") return { ...nothing, where: `There is no worktree: ${workspace.reason}.` };
  if (workspace.at === "trashed") {
    const entry = (await workspaces.listTrash()).find((one) => one.id === workspace.trash);
    if (entry === undefined) return { ...nothing, where: `Trash entry ${workspace.trash} is gone.` };
    const until = trashUntil(services)(entry);
    const where = `Kept in the trash as ${entry.id} until ${until}. Get it back: holdfast session restore ${id}`;
    return { uncommitted: entry.uncommitted, unpushed: entry.unpushed, where };
  }
  if (workspaces.exists(path) === false) return { ...nothing, where: `There is nothing at ${path}.` };
  const { uncommitted, unpushed, note } = await workspaces.inspect(path);
  const where =
    `Kill and delete move all of ${path} to the trash for ${workspaces.trashDays} days. ` +
    `Get it back after a kill: holdfast session restore ${id}; after a delete: holdfast trash restore ${id}`;
  return { uncommitted, unpushed, where: note === undefined ? where : `${note} ${where}` };
}

async function treeOf({ workspaces }: Needs, session: SessionState): Promise<string> {
  const { workspace, workspacePath: path, id } = session;
  if (workspace.at === "trashed") {
    const trashed = await workspaces.trashedAt(workspace.trash);
    if (trashed !== null) return trashed;
    throw new HoldfastError("not-found", `The worktree of ${id} is no longer in the trash.`, {
      hint: "List the trash: holdfast trash ls",
    });
  }
  if (workspace.at === "ready" && workspaces.exists(path) !== false) return path;
  const why = {
    planned: "it has not been created yet",
    ready: `there is nothing at ${path}`,
    gone: workspace.at === "gone" ? workspace.reason : "",
  }[workspace.at];
  throw new HoldfastError("not-found", `${id} has no worktree: ${why}.`, {
    hint: workspace.at === "planned" ? "Wait until it is created." : `See \`holdfast events ${id}\`.`,
  });
}
