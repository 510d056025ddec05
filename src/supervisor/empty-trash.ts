/** Removes one kept worktree for good, and says so in the record of the session it belonged to. */
import type { TrashEntry } from "../ports/worktree.ts";
import type { Services } from "./services.ts";

export async function emptyEntry(parts: Services, entry: TrashEntry, reason: string): Promise<void> {
  await parts.workspaces.empty(entry.id);
  const owner = parts.store.session(entry.session);
  if (owner?.workspace.at !== "trashed" || owner.workspace.trash !== entry.id) return;
  await parts.store.change(owner.id, () => [{ type: "workspace.gone", reason }]);
}
