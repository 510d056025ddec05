/** There is no such session: deleted while it was open, or never there. What is kept of its files can still be had. */
import { useEffect, useState } from "react";
import type { TrashJson } from "../../contract/wire.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { onEvents } from "../shared/data/live.ts";
import { BoardLink, Button } from "../shared/ui/button.tsx";
import { showToast } from "../shared/ui/toast.tsx";
import { TrashFacts } from "./trash-facts.tsx";

export function MissingSession({ id, deleted }: { id: string; deleted: boolean }) {
  const [kept, setKept] = useState<TrashJson[]>([]);
  useEffect(() => {
    let abort = new AbortController();
    const load = (): void => {
      // An older answer may come later than a newer one.
      abort.abort();
      abort = new AbortController();
      call("trash", { signal: abort.signal }).then(
        (all) => setKept(all.filter((entry) => entry.session === id)),
        // The page's sentence stands without it.
        () => undefined,
      );
    };
    load();
    // Its worktree is moved after the deletion was said.
    const stop = onEvents(id, load);
    return () => {
      stop();
      abort.abort();
    };
  }, [id]);
  const restore = async (entry: TrashJson): Promise<void> => {
    try {
      await call("trashRestore", { params: { id: entry.id }, body: {} });
      setKept((now) => now.filter((one) => one.id !== entry.id));
      showToast(`The files are back at ${entry.path}.`);
    } catch (error) {
      showToast(`The files stay in the trash: ${sentenceOf(error)}`, "fault");
    }
  };
  return (
    <section className="mx-auto flex w-full max-w-2xl flex-col gap-4 p-4 sm:p-6">
      <h1 className="text-base font-semibold">{deleted ? `${id} was deleted` : `There is no session ${id}`}</h1>
      <p role="status">
        {deleted
          ? "It was deleted while this page was open. Its processes are ended and it cannot be brought back."
          : "It was deleted, or the address is wrong."}
      </p>
      {kept.map((entry) => (
        <div key={entry.id} className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4">
          <p>Its files are kept in the trash.</p>
          <TrashFacts entry={entry} />
          <div>
            <Button variant="primary" onClick={() => void restore(entry)}>
              Put the files back
            </Button>
          </div>
        </div>
      ))}
      <BoardLink />
    </section>
  );
}
