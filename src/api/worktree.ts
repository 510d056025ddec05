/** What a session's worktree holds, wherever it lies: in its place, or in the trash. Nothing here changes anything. */
import type { ApiRequest } from "../ports/api.ts";
import type { Against } from "../ports/worktree.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { SessionState } from "../model/session.ts";
import type { ChangesJson, FilesJson, PatchJson, WorkJson } from "../contract/worktree.ts";
import type { Services } from "../supervisor/services.ts";
import { trashUntil } from "../supervisor/worktrees.ts";
import { findSession } from "./run-verb.ts";

/** For a list that opens under what is typed. */
const defaultFiles = 50;
const maxFiles = 1_000;

export async function changes(parts: Services, ask: ApiRequest<"changes">): Promise<ChangesJson> {
  const session = findSession(parts, ask);
  return await parts.workspaces.changes(await treeOf(parts, session), against(parts, session));
}

export async function patch(parts: Services, ask: ApiRequest<"patch">): Promise<PatchJson> {
  const session = findSession(parts, ask);
  const file = ask.query.path;
  return await parts.workspaces.patch(await treeOf(parts, session), against(parts, session), file ?? null);
}

export async function files(parts: Services, ask: ApiRequest<"files">): Promise<FilesJson> {
  const session = findSession(parts, ask);
  const limit = Number(ask.query.limit ?? defaultFiles);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new HoldfastError("usage", "`limit` is a whole number above 0.");
  return await parts.workspaces.files(
    await treeOf(parts, session),
    (ask.query.query ?? "").trim(),
    Math.min(limit, maxFiles),
  );
}

/** Before a kill or a delete: what it would find, and what becomes of it. */
export async function work(parts: Services, ask: ApiRequest<"work">): Promise<WorkJson> {
  const session = findSession(parts, ask);
  const { workspace, id } = session;
  const nothing = { uncommitted: 0, unpushed: [] };
  const days = parts.workspaces.trashDays;
  if (workspace.at === "planned") return { ...nothing, where: "The worktree has not been created yet." };
  if (workspace.at === "gone") return { ...nothing, where: `There is no worktree: ${workspace.reason}.` };
  if (workspace.at === "trashed") {
    const entry = (await parts.workspaces.listTrash()).find((each) => each.id === workspace.trash);
    if (entry === undefined) return { ...nothing, where: `Trash entry ${workspace.trash} is gone.` };
    const until = trashUntil(parts)(entry);
    const where = `Kept in the trash as ${entry.id} until ${until}. Get it back: holdfast session restore ${id}`;
    return { uncommitted: entry.uncommitted, unpushed: entry.unpushed, where };
  }
  if (parts.workspaces.exists(session.workspacePath) === false) {
    return { ...nothing, where: `There is nothing at ${session.workspacePath}.` };
  }
  const where =
    `Kill and delete move ${session.workspacePath}, whole, to the trash for ${days} days. ` +
    `Get it back after a kill: holdfast session restore ${id}; after a delete: holdfast trash restore ${id}`;
  const { uncommitted, unpushed, note } = await parts.workspaces.inspect(session.workspacePath);
  return { uncommitted, unpushed, where: note === undefined ? where : `${note} ${where}` };
}

async function treeOf(parts: Services, session: SessionState): Promise<string> {
  const { workspace, workspacePath: path, id } = session;
  if (workspace.at === "trashed") {
    const kept = await parts.workspaces.trashedAt(workspace.trash);
    if (kept !== null) return kept;
    throw new HoldfastError("not-found", `The worktree of ${id} is no longer in the trash.`, {
      hint: "See what is kept with `holdfast trash ls`.",
    });
  }
  if (workspace.at === "ready" && parts.workspaces.exists(path) !== false) return path;
  const why = {
    planned: "it has not been created yet",
    ready: `there is nothing at ${path}`,
    gone: workspace.at === "gone" ? workspace.reason : "",
  }[workspace.at];
  throw new HoldfastError("not-found", `${id} has no worktree: ${why}.`, {
    hint: workspace.at === "planned" ? "Wait until it is made." : `See \`holdfast events ${id}\`.`,
  });
}

function against(parts: Services, session: SessionState): Against {
  return { base: session.base, defaultBranch: parts.settings.last(session.project)?.defaultBranch ?? null };
}
