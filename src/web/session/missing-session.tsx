/** Shown for a session that does not exist: deleted while it was open, or never created. Offers its files in the trash. */
import { useEffect } from "react";
import type { TrashJson } from "../../contract/trash.ts";
import { call } from "../shared/data/api.ts";
import { onEvents } from "../shared/data/live.ts";
import { useQuery } from "../shared/data/use-query.ts";
import { BoardLink, Button } from "../shared/ui/button.tsx";
import { showToast, useAction } from "../shared/ui/toast.tsx";
import { TrashFacts } from "./trash-facts.tsx";

export function MissingSession({ id, deleted }: { id: string; deleted: boolean }) {
  const [trash, reload] = useQuery("trash");
  // The worktree moves to the trash after the deletion is reported.
  useEffect(() => onEvents(id, reload), [id, reload]);
  const { run } = useAction("Could not restore the files");
  const restore = async (entry: TrashJson): Promise<void> => {
    const isRestored = await run(() => call("trashRestore", { params: { id: entry.id }, body: {} }));
    if (isRestored) showToast(`Files restored to ${entry.path}.`);
    reload();
  };
  const entries = trash.is === "known" ? trash.value.filter(({ session }) => session === id) : [];
  return (
    <section className="mx-auto flex w-full max-w-2xl flex-col gap-4 p-4 sm:p-6">
      <h1 className="text-base font-semibold">{deleted ? `${id} was deleted` : `There is no session ${id}`}</h1>
      <p role="status">
        {deleted
          ? "It was deleted while this page was open. Its processes are stopped and it cannot be restored."
          : "It was deleted, or the address is wrong."}
      </p>
      {entries.map((entry) => (
        <div key={entry.id} className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4">
          <p>Its files are in the trash.</p>
          <TrashFacts entry={entry} />
          <div>
            <Button variant="primary" onClick={() => void restore(entry)}>
              Restore files
            </Button>
          </div>
        </div>
      ))}
      <BoardLink />
    </section>
  );
}
