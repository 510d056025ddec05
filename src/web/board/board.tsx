/** The sessions of all projects by what they need from the person, as columns of cards or as a dense list. */
import { Link } from "wouter";
import { useLive } from "../state/live.ts";
import { columns as allColumns } from "../../model/board.ts";
import { usePreference } from "../state/preferences.ts";
import { Button } from "../ui/button.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { Column } from "./column.tsx";
import { KeepCursor } from "./keep-cursor.tsx";
import { TrackerTrouble } from "./tracker-trouble.tsx";
import { useColumns } from "./use-columns.ts";
import { boardView, useQuery } from "./view-state.ts";

export function Board() {
  const loaded = useLive((state) => state.loaded);
  const none = useLive((state) => state.sessions.size === 0);
  const several = useLive((state) => hasSeveralProjects(state.sessions.values()));
  const [as] = usePreference("boardAs");
  const [project, setProject] = usePreference("project");
  const [sort] = usePreference("sort");
  const [showEnded] = usePreference("showEnded");
  const query = useQuery();
  const columns = useColumns({ project, query, sort });
  if (!loaded && none) return <Spinner label="Waiting for the daemon" />;
  if (none) return <NoSessions />;
  const shown = allColumns.filter((column) => column !== "ended" || showEnded || query !== "");
  const found = shown.reduce((sum, need) => sum + columns[need].length, 0);
  return (
    <>
      <h1 className="sr-only">Sessions</h1>
      <TrackerTrouble />
      <p role="status" className="sr-only">
        {query === "" ? "" : `${found} ${found === 1 ? "session fits" : "sessions fit"} the search.`}
      </p>
      {found === 0 ? (
        <div className="flex flex-col items-start gap-3 p-6">
          <p>
            No session fits{query === "" ? "" : ` “${query}”`}
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
        A session is one agent at work on one thing, in a worktree of its own. What you start keeps running when this
        page is closed.
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

function hasSeveralProjects(sessions: Iterable<{ project: string }>): boolean {
  let first: string | undefined;
  for (const { project } of sessions) {
    first ??= project;
    if (project !== first) return true;
  }
  return false;
}
