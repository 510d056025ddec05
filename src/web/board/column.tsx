/** The sessions that need the same of the person, as a column of cards or as a part of the list. */
import { memo, useState } from "react";
import { columnTitles, type Column as BoardColumn } from "../../model/board.ts";
import { Button } from "../ui/button.tsx";
import { classes } from "../ui/classes.ts";
import { SessionCard } from "./session-card.tsx";
import { SessionRow } from "./session-row.tsx";

/** More than anybody looks through; the rest is a press or a search away. */
const shownFirst = 60;

export interface ColumnProps {
  need: BoardColumn;
  ids: readonly string[];
  as: "columns" | "list";
  withProject: boolean;
}

const empty: Record<BoardColumn, string> = {
  you: "Nothing waits for you.",
  working: "No agent is at work.",
  review: "No pull request to look at.",
  idle: "No session is idle.",
  ended: "No session has ended.",
};

export const Column = memo(function Column({ need, ids, as, withProject }: ColumnProps) {
  const [all, setAll] = useState(false);
  const shown = all ? ids : ids.slice(0, shownFirst);
  const Item = as === "columns" ? SessionCard : SessionRow;
  return (
    <section
      aria-labelledby={`need-${need}`}
      data-column={need}
      className={classes(
        as === "columns"
          ? "flex min-w-0 flex-1 flex-col px-1 pb-4 md:min-w-56 md:overflow-y-auto"
          : "flex flex-col px-1",
        // On a phone, and in a list, a heading above nothing only takes room.
        ids.length === 0 && (as === "list" ? "hidden" : "hidden md:flex"),
      )}
    >
      <h2
        id={`need-${need}`}
        className="sticky top-0 z-10 flex items-center gap-2 bg-page py-2 text-xs font-semibold text-dim"
      >
        {need === "you" && ids.length > 0 && <span aria-hidden className="size-2 rounded-full bg-alert" />}
        {columnTitles[need]}
        <span className="font-normal tabular-nums">{ids.length}</span>
      </h2>
      {ids.length === 0 ? (
        <p className="rounded-lg border border-dashed border-line px-3 py-4 text-xs text-dim">{empty[need]}</p>
      ) : (
        <ul
          className={
            as === "columns" ? "flex flex-col gap-2" : "overflow-clip rounded-lg border border-b-0 border-line bg-panel"
          }
        >
          {shown.map((id) => (
            <Item key={id} id={id} withProject={withProject} />
          ))}
        </ul>
      )}
      {shown.length < ids.length && (
        <Button variant="quiet" className="mt-2 self-start" onClick={() => setAll(true)}>
          Show {ids.length - shown.length} more
        </Button>
      )}
    </section>
  );
});
