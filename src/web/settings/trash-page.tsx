/** Worktrees that were put away by kill, cleanup and delete, to be put back or thrown away for good. */
import { useEffect, useState } from "react";
import type { TrashJson } from "../../contract/wire.ts";
import { startVerb } from "../shared/verbs/verbs.tsx";
import { call, sentenceOf } from "../shared/data/api.ts";
import { onEvents, useMay, useSession } from "../shared/data/live.ts";
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { ConfirmDialog } from "../shared/ui/dialog.tsx";
import { showToast } from "../shared/ui/toast.tsx";
import { useQuery } from "../shared/data/use-query.ts";
import { WhenLoaded, Row, Section } from "./section.tsx";

export default function TrashPage() {
  const [trash, again] = useQuery("trash");
  // A session that is restored, killed or deleted, here or elsewhere, changes the list.
  useEffect(
    () => onEvents("*", (events) => void (events.some(({ type }) => type.startsWith("workspace.")) && again())),
    [again],
  );
  /** What is to be thrown away: one entry, or all of them. */
  const [asked, setAsked] = useState<TrashJson | "all" | null>(null);
  const may = useMay("all");
  const some = trash.is === "known" && trash.value.length > 0;
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-4 p-4 pb-10">
      <h1 className="text-base font-semibold">Trash</h1>
      <fieldset disabled={!may} className="contents">
        <Section
          id="kept"
          title="Kept worktrees"
          note="Whole, with uncommitted and ignored files. Restoring a killed session puts its worktree back too."
          action={
            some && (
              <Button size="small" variant="danger" onClick={() => setAsked("all")}>
                Empty the trash
              </Button>
            )
          }
        >
          <WhenLoaded asked={trash} onAgain={again}>
            {(list) =>
              list.length === 0 ? (
                <p className="text-dim">The trash is empty.</p>
              ) : (
                <ul className="flex flex-col gap-2">
                  {list.map((entry) => (
                    <Entry key={entry.id} entry={entry} onChanged={again} onThrow={() => setAsked(entry)} />
                  ))}
                </ul>
              )
            }
          </WhenLoaded>
        </Section>
      </fieldset>
      {asked !== null && (
        <DeleteDialog
          what={asked}
          count={trash.is === "known" ? trash.value.length : 0}
          onClose={() => setAsked(null)}
          onDone={again}
        />
      )}
    </div>
  );
}

function Entry({ entry, onChanged, onThrow }: { entry: TrashJson; onChanged: () => void; onThrow: () => void }) {
  const [busy, setBusy] = useState(false);
  const session = useSession(entry.session);
  const owner = session?.trash === entry.id ? session : undefined;
  const restore = async (): Promise<void> => {
    setBusy(true);
    try {
      const { path } = await call("trashRestore", { params: { id: entry.id }, body: {} });
      showToast(`The worktree of ${entry.session} is back at ${path}.`);
      onChanged();
    } catch (error) {
      showToast(`${entry.session}: ${sentenceOf(error)}`, "fault");
    }
    setBusy(false);
  };
  return (
    <Row
      action={
        <span className="flex gap-2">
          {owner === undefined ? (
            <Button
              size="small"
              disabled={busy}
              aria-label={`Put back ${entry.session}`}
              onClick={() => void restore()}
            >
              Put back
            </Button>
          ) : (
            <Button size="small" aria-label={`Restore ${entry.session}`} onClick={() => startVerb("restore", owner)}>
              Restore session
            </Button>
          )}
          <Button size="small" variant="danger" aria-label={`Throw away ${entry.session}`} onClick={onThrow}>
            Throw away
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

function describeWork({ uncommitted, unpushed }: TrashJson): string {
  const parts = [
    uncommitted === 0 ? "" : `${uncommitted} uncommitted ${uncommitted === 1 ? "file" : "files"}`,
    unpushed.length === 0 ? "" : `${unpushed.length} unpushed ${unpushed.length === 1 ? "commit" : "commits"}`,
  ].filter(Boolean);
  return parts.length === 0 ? "No work that is only here." : `Only here: ${parts.join(", ")}.`;
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
    showToast(gone.length === 1 ? "One worktree was thrown away." : `${gone.length} worktrees were thrown away.`);
    onDone();
    onClose();
  };
  return (
    <ConfirmDialog
      title={
        what === "all"
          ? `Throw away ${count} ${count === 1 ? "worktree" : "worktrees"}?`
          : `Throw away the worktree of ${what.session}?`
      }
      description={
        <>
          {what !== "all" && <p>{describeWork(what)}</p>}
          <p>The files and the refs that pin their commits are removed for good. Nothing brings them back.</p>
        </>
      }
      keep="Keep"
      confirm="Throw away for good"
      act={act}
      onClose={onClose}
    />
  );
}
