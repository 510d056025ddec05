import { useMemo } from "react";
import type { SessionJson } from "../../contract/wire.ts";
import { useLive, type Live } from "../shared/data/live.ts";
import { looksSame } from "./display-session.ts";

/** The session as its page shows it: the same object until that changes, however much its agent says. */
export function useCalmSession(id: string): SessionJson | undefined {
  const select = useMemo(() => calmSelector(id), [id]);
  return useLive(select);
}

function calmSelector(id: string): (state: Live) => SessionJson | undefined {
  let kept: SessionJson | undefined;
  return ({ sessions }) => {
    const now = sessions.get(id);
    if (now === undefined || kept === undefined || !looksSame(kept, now)) kept = now;
    return kept;
  };
}
