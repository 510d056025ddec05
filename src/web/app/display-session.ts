/** A session without what each word of its agent changes and its page does not show. */
import type { SessionJson } from "../../contract/wire.ts";
import { useMemo } from "react";
import { useLive, type Live } from "../shared/data/live.ts";

/** How exactly the page tells when it was active last. */
const ageStepMs = 15_000;

/** Whether the page would show both alike. */
export function looksSame(a: SessionJson, b: SessionJson): boolean {
  return a === b || shownOf(a) === shownOf(b);
}

const shown = new WeakMap<SessionJson, string>();

function shownOf(session: SessionJson): string {
  const known = shown.get(session);
  if (known !== undefined) return known;
  const { seq: _seq, lastLine: _lastLine, lastActivityAt, ...rest } = session;
  const step = lastActivityAt === null ? null : Math.floor(Date.parse(lastActivityAt) / ageStepMs);
  const text = JSON.stringify([step, rest]);
  shown.set(session, text);
  return text;
}

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
