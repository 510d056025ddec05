/** The sessions of all projects by what they need from the user, as columns of cards or as a dense list. */
import { Link } from "wouter";
import { useLive, live, onChanges } from "../shared/data/live.ts";
import { columns as allColumns } from "../../model/board.ts";
import { usePreference } from "../shared/data/preferences.ts";
import { Button } from "../shared/ui/button.tsx";
import { countOf } from "../shared/ui/safe-text.ts";
import { Spinner } from "../shared/ui/loading.tsx";
import { Column } from "./column.tsx";
import { KeepCursor } from "./keep-cursor.tsx";
import { TrackerBanner } from "./tracker-banner.tsx";
import { boardView, projectsOf, useSearchQuery } from "./board-controls.tsx";
import { useEffect, useMemo, useState } from "react";
import { arrange, keepSame, moves, noColumns, type Columns, type BoardFilter } from "./arrange.ts";

export function Board() {
  const loaded = useLive((state) => state.loaded);
  const none = useLive((state) => state.sessions.size === 0);
  const several = useLive((state) => projectsOf(state).includes("\n"));
  const [as] = usePreference("boardAs");
  const [project, setProject] = usePreference("project");
  const [sort] = usePreference("sort");
  const [showEnded] = usePreference("showEnded");
  const query = useSearchQuery();
  const columns = useColumns({ project, query, sort });
  if (!loaded && none) return <Spinner label="Waiting for the daemon" />;
  if (none) return <NoSessions />;
  const shown = allColumns.filter((need) => need !== "ended" || showEnded || query !== "");
  const found = shown.reduce((sum, need) => sum + columns[need].length, 0);
  return (
    <>
      <h1 className="sr-only">Sessions</h1>
      <TrackerBanner />
      <p role="status" className="sr-only">
        {query === "" ? "" : countOf(found, "matching session")}
      </p>
      {found === 0 ? (
        <div className="flex flex-col items-start gap-3 p-6">
          <p>
            No matching sessions{query === "" ? "" : ` “${query}”`}
            {project === null ? "" : ` in ${project}`}.
          </p>
          <Button
            onClick={() => {
              boardView.setState({ query: "" });
              setProject(null);
            }}
          >
            Show all sessions
          </Button>
        </div>
      ) : (
        <KeepCursor
          className={
            as === "columns"
              ? "flex min-w-0 flex-col gap-x-2 px-2 md:min-h-0 md:flex-1 md:flex-row md:overflow-x-auto md:px-3"
              : "flex flex-col gap-2 px-2 pb-6 md:px-3"
          }
        >
          {shown.map((need) => (
            <Column key={need} need={need} ids={columns[need]} as={as} withProject={several && project === null} />
          ))}
        </KeepCursor>
      )}
    </>
  );
}

function NoSessions() {
  return (
    <div className="mx-auto flex max-w-md flex-col items-start gap-3 p-6 pt-[10vh]">
      <h1 className="text-base font-semibold">No sessions yet</h1>
      <p className="text-dim">
        A session is one agent working on one task in its own worktree. Sessions keep running when this page is closed.
      </p>
      <Link
        href="/new"
        className="inline-flex h-8 items-center rounded-md bg-accent px-3 font-medium text-accent-ink hover:brightness-110 pointer-coarse:h-10"
      >
        Start a session
      </Link>
    </div>
  );
}

/** The columns, updated at most once per frame, and only if a session moved. */
function useColumns({ project, query, sort }: BoardFilter): Columns {
  const filter = useMemo(() => ({ project, query, sort }), [project, query, sort]);
  const [columns, setColumns] = useState<Columns>(() => keepSame(noColumns, read(filter)));
  useEffect(() => {
    let frame = 0;
    const update = (): void => {
      // A card must not move away with its open menu.
      const isMenuOpen = document.querySelector("[role=menu]") !== null;
      frame = isMenuOpen ? requestAnimationFrame(update) : 0;
      if (!isMenuOpen) setColumns((before) => keepSame(before, read(filter)));
    };
    update();
    const schedule = (): void => {
      if (frame === 0) frame = requestAnimationFrame(update);
    };
    const stops = [
      onChanges((changes) => {
        if (changes.some(({ before, after }) => moves(before, after, filter))) schedule();
      }),
      live.subscribe((state, before) => {
        if (state.snapshots !== before.snapshots || state.sessions.size !== before.sessions.size) schedule();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      cancelAnimationFrame(frame);
    };
  }, [filter]);
  return columns;
}

function read(filter: BoardFilter): Columns {
  return arrange(live.getState().sessions.values(), filter);
}
