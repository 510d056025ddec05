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
  return ({ sessions }) => {
    const now = sessions.get(id);
    if (now === undefined || shown === undefined || !looksSame(shown, now)) shown = now;
    return shown;
  };
}

export function looksSame(a: SessionJson, b: SessionJson): boolean {
  return a === b || visiblePart(a) === visiblePart(b);
}

const visibleParts = new WeakMap<SessionJson, string>();

function visiblePart(session: SessionJson): string {
  const known = visibleParts.get(session);
  if (known !== undefined) return known;
  const { seq: _seq, lastLine: _lastLine, lastActivityAt, ...rest } = session;
  const step = lastActivityAt === null ? null : Math.floor(Date.parse(lastActivityAt) / ageStepMs);
  const text = JSON.stringify([step, rest]);
  visibleParts.set(session, text);
  return text;
}
