/** The session as its page shows it: the same object until something visible changes, however fast its agent writes. */
import { useMemo } from "react";
import type { SessionJson } from "../../contract/session.ts";
import { useLive, type Live } from "../shared/data/live.ts";

/** Resolution of the last activity on the page. */
const ageStepMs = 15_000;

export function useDisplaySession(id: string): SessionJson | undefined {
  const select = useMemo(() => displaySelector(id), [id]);
  return useLive(select);
}

function displaySelector(id: string): (state: Live) => SessionJson | undefined {
  let shown: SessionJson | undefined;
  let last: SessionJson | undefined;
  return ({ sessions }) => {
    const now = sessions.get(id);
    if (now !== last && (now === undefined || shown === undefined || !looksSame(shown, now))) shown = now;
    last = now;
    return shown;
  };
}

export function looksSame(a: SessionJson, b: SessionJson): boolean {
  return visiblePart(a) === visiblePart(b);
}

function visiblePart({ seq: _seq, lastLine: _lastLine, lastActivityAt, ...rest }: SessionJson): string {
  const step = lastActivityAt === null ? null : Math.floor(Date.parse(lastActivityAt) / ageStepMs);
  return JSON.stringify([step, rest]);
}
