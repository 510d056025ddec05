/** The sessions of one board column, as cards or as a part of the list. */
import { memo, useState } from "react";
import { type Column as BoardColumn, columnTitles } from "../../model/board.ts";
import { Button } from "../shared/ui/button.tsx";
import { clsx } from "clsx";
import { SessionCard } from "./session-card.tsx";
import { SessionRow } from "./session-row.tsx";

/** More than anyone reads through; the rest is a click or a search away. */
const shownFirst = 60;

export interface ColumnProps {
  need: BoardColumn;
  ids: readonly string[];
  as: "columns" | "list";
  withProject: boolean;
}

const empty: Record<BoardColumn, string> = {
  you: "Nothing needs you.",
  working: "No working agents.",
  review: "No pull requests to review.",
  idle: "No idle sessions.",
  ended: "No ended sessions.",
};

export const Column = memo(function Column({ need, ids, as, withProject }: ColumnProps) {
  const [all, setAll] = useState(false);
  const shown = all ? ids : ids.slice(0, shownFirst);
  const Item = as === "columns" ? SessionCard : SessionRow;
  return (
    <section
      aria-labelledby={`need-${need}`}
      data-column={need}
      className={clsx(
        as === "columns"
          ? "flex min-w-0 flex-1 flex-col px-1 pb-4 md:min-w-56 md:overflow-y-auto"
          : "flex flex-col px-1",
        // On a phone and in a list, the heading of an empty column only takes space.
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
