/** The board's columns as they are now. Drawn at most once a frame, and only where something moved. */
import { useEffect, useMemo, useState } from "react";
import { live } from "../state/live.ts";
import { arrange, keepSame, noColumns, type Columns, type Wanted } from "./arrange.ts";

export function useColumns({ project, query, sort }: Wanted): Columns {
  const wanted = useMemo(() => ({ project, query, sort }), [project, query, sort]);
  const [columns, setColumns] = useState<Columns>(() => keepSame(noColumns, read(wanted)));
  useEffect(() => {
    let frame = 0;
    const update = (): void => {
      frame = 0;
      setColumns((before) => keepSame(before, read(wanted)));
    };
    update();
    const stop = live.subscribe((state, before) => {
      if (state.sessions !== before.sessions && frame === 0) frame = requestAnimationFrame(update);
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [wanted]);
  return columns;
}

function read(wanted: Wanted): Columns {
  return arrange(live.getState().sessions.values(), wanted);
}
