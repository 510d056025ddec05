/** Worktrees removed by kill, cleanup and delete: restore them or delete them permanently. */
import { useEffect, useState } from "react";
import type { TrashJson } from "../../contract/trash.ts";
import { startVerb } from "../shared/verbs/verbs.tsx";
import { call } from "../shared/data/api.ts";
import { onEvents, useMay, useSession } from "../shared/data/live.ts";
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { ConfirmDialog } from "../shared/ui/dialog.tsx";
import { countOf, workCounts } from "../shared/ui/safe-text.ts";
import { showToast, useAction } from "../shared/ui/toast.tsx";
import { useQuery } from "../shared/data/use-query.ts";
import { WhenLoaded, Row, Section } from "./section.tsx";

export default function TrashPage() {
  const [trash, reload] = useQuery("trash");
  // Restoring, killing or deleting a session, here or elsewhere, changes the list.
  useEffect(
    () => onEvents("*", (events) => void (events.some(({ type }) => type.startsWith("workspace.")) && reload())),
    [reload],
  );
  /** What the dialog would delete. */
  const [deleting, setDeleting] = useState<TrashJson | "all" | null>(null);
  const may = useMay("all");
  const some = trash.is === "known" && trash.value.length > 0;
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-4 p-4 pb-10">
      <h1 className="text-base font-semibold">Trash</h1>
      <fieldset disabled={!may} className="contents">
        <Section
          id="trash"
          title="Trashed worktrees"
          note="Complete, with uncommitted and ignored files. Restoring a killed session also restores its worktree."
          action={
            some && (
              <Button size="small" variant="danger" onClick={() => setDeleting("all")}>
                Empty trash
              </Button>
            )
          }
        >
          <WhenLoaded query={trash} onRetry={reload}>
            {(list) =>
              list.length === 0 ? (
                <p className="text-dim">The trash is empty.</p>
              ) : (
                <ul className="flex flex-col gap-2">
                  {list.map((entry) => (
                    <Entry key={entry.id} entry={entry} onChanged={reload} onDelete={() => setDeleting(entry)} />
                  ))}
                </ul>
              )
            }
          </WhenLoaded>
        </Section>
      </fieldset>
      {deleting !== null && (
        <DeleteDialog
          what={deleting}
          count={trash.is === "known" ? trash.value.length : 0}
          onClose={() => setDeleting(null)}
          onDone={reload}
        />
      )}
    </div>
  );
}

function Entry({ entry, onChanged, onDelete }: { entry: TrashJson; onChanged: () => void; onDelete: () => void }) {
  const { busy, run } = useAction(entry.session);
  const session = useSession(entry.session);
  const owner = session?.trash === entry.id ? session : undefined;
  const restore = () =>
    run(async () => {
      const { path } = await call("trashRestore", { params: { id: entry.id }, body: {} });
      showToast(`Worktree of ${entry.session} restored to ${path}.`);
      onChanged();
    });
  return (
    <Row
      action={
        <span className="flex gap-2">
          {owner === undefined ? (
            <Button
              size="small"
              disabled={busy}
              aria-label={`Restore files of ${entry.session}`}
              onClick={() => void restore()}
            >
              Restore files
            </Button>
          ) : (
            <Button size="small" aria-label={`Restore ${entry.session}`} onClick={() => startVerb("restore", owner)}>
              Restore session
            </Button>
          )}
          <Button size="small" variant="danger" aria-label={`Delete ${entry.session} permanently`} onClick={onDelete}>
            Delete permanently
          </Button>
        </span>
      }
    >
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-mono font-medium">{entry.session}</span>
        <span className="font-mono text-xs text-dim">{entry.branch}</span>
        <Age of={entry.trashedAt} className="text-xs text-dim" />
      </p>
      <p className="text-xs">{describeWork(entry)}</p>
      <p className="font-mono text-xs break-all text-dim">{entry.path}</p>
    </Row>
  );
}

function describeWork(entry: TrashJson): string {
  const work = workCounts(entry);
  return work.length === 0 ? "Nothing unique to this worktree." : `Unique to this worktree: ${work.join(", ")}.`;
}

interface DeleteDialogProps {
  what: TrashJson | "all";
  count: number;
  onClose: () => void;
  onDone: () => void;
}

function DeleteDialog({ what, count, onClose, onDone }: DeleteDialogProps) {
  const act = async (): Promise<void> => {
    const gone = await call("trashEmpty", { body: what === "all" ? {} : { id: what.id } });
    showToast(`${countOf(gone.length, "worktree")} deleted.`);
    onDone();
    onClose();
  };
  return (
    <ConfirmDialog
      title={
        what === "all"
          ? `Delete ${countOf(count, "worktree")} permanently?`
          : `Delete the worktree of ${what.session} permanently?`
      }
      description={
        <>
          {what !== "all" && <p>{describeWork(what)}</p>}
          <p>The files and the refs that keep their commits are deleted. This cannot be undone.</p>
        </>
      }
      keep="Keep"
      confirm="Delete permanently"
      act={act}
      onClose={onClose}
    />
  );
}
