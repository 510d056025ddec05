/** Removed worktrees. */
import { HoldfastError } from "../contract/errors.ts";
import type { TrashJson } from "../contract/trash.ts";
import { isOlder } from "../model/trash-days.ts";
import type { Handlers } from "../ports/api.ts";
import type { TrashEntry } from "../ports/worktree.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { iso } from "../supervisor/view.ts";
import { emptyEntry, trashDaysOf, trashUntil } from "../supervisor/worktrees.ts";

export function trashHandlers(
  services: Pick<Services, "store" | "workspaces" | "clock">,
  loop: Loop,
): Handlers<"trash" | "trashRestore" | "trashEmpty"> {
  const { store, workspaces } = services;
  const toJson = (entries: readonly TrashEntry[]): TrashJson[] => {
    const until = trashUntil(services);
    const daysOf = trashDaysOf(services);
    return entries.map((entry) => {
      const { id, session, path, branch, ref, trashedAt, uncommitted, unpushed } = entry;
      const times = { trashedAt: iso(trashedAt), keptUntil: until(entry), days: daysOf(entry) };
      return { id, session, path, branch, ref, ...times, uncommitted, unpushed };
    });
  };
  const find = async (id: string): Promise<TrashEntry> => {
    const entries = await workspaces.listTrash();
    const entry = entries.find((one) => one.id === id) ?? entries.findLast((one) => one.session === id);
    if (entry !== undefined) return entry;
    throw new HoldfastError("not-found", `The trash has no entry ${id}.`, { hint: "See `holdfast trash ls`." });
  };
  return {
    trash: async () => toJson(await workspaces.listTrash()),
    trashRestore: async ({ params }) => {
      const entry = await find(params.id);
      const owner = store.session(entry.session);
      if (owner !== null && owner.intent.want !== "deleted" && owner.workspace.at === "trashed") {
        throw new HoldfastError("conflict", `${entry.id} belongs to session ${entry.session}, which still exists.`, {
          hint: `Restore both: holdfast session restore ${entry.session}`,
        });
      }
      await workspaces.restore(entry.id);
      loop.wake(null);
      return toJson([entry])[0]!;
    },
    trashEmpty: async ({ input: { id, olderThanDays } }) => {
      const all = id === undefined ? await workspaces.listTrash() : [await find(id)];
      const daysOf = trashDaysOf(services);
      const chosen = all.filter((entry) => olderThanDays === undefined || isOlder(daysOf(entry), olderThanDays));
      for (const entry of chosen) await emptyEntry(services, entry, "the trash was emptied");
      return toJson(chosen);
    },
  };
}
