/** The board's columns as they are now. Drawn at most once a frame, and only where something moved. */
import { useEffect, useMemo, useState } from "react";
import { live, onChanges } from "../shared/data/live.ts";
import { arrange, keepSame, moves, noColumns, type Columns, type Wanted } from "./arrange.ts";

export function useColumns({ project, query, sort }: Wanted): Columns {
  const wanted = useMemo(() => ({ project, query, sort }), [project, query, sort]);
  const [columns, setColumns] = useState<Columns>(() => keepSame(noColumns, read(wanted)));
  useEffect(() => {
    let frame = 0;
    const show = (): void => {
      frame = 0;
      setColumns((before) => keepSame(before, read(wanted)));
    };
    const update = (): void => {
      // A card that moves takes its menu along, away from under the hand.
      if (isMenuOpen()) frame = requestAnimationFrame(update);
      else show();
    };
    update();
    const schedule = (): void => {
      if (frame === 0) frame = requestAnimationFrame(update);
    };
    const stops = [
      onChanges((changes) => {
        if (changes.some(({ before, after }) => moves(before, after, wanted))) schedule();
      }),
      live.subscribe((state, before) => {
        if (state.snapshots !== before.snapshots || state.sessions.size !== before.sessions.size) schedule();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      cancelAnimationFrame(frame);
    };
  }, [wanted]);
  return columns;
}

function isMenuOpen(): boolean {
  return document.querySelector("[role=menu]") !== null;
}

function read(wanted: Wanted): Columns {
  return arrange(live.getState().sessions.values(), wanted);
}
