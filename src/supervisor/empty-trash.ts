/** Removes one kept worktree for good, and says so in the record of the session it belonged to. */
import type { TrashEntry } from "../ports/worktree.ts";
import type { Services } from "./services.ts";

export async function emptyEntry(
  services: Pick<Services, "store" | "workspaces">,
  entry: TrashEntry,
  reason: string,
): Promise<void> {
  await services.workspaces.empty(entry.id);
  const owner = services.store.session(entry.session);
  if (owner?.workspace.at !== "trashed" || owner.workspace.trash !== entry.id) return;
  await services.store.change(owner.id, () => [{ type: "workspace.gone", reason }]);
}
