/**
 * The last state of a chat session's transcript, in this browser, so that a reload shows it at once and fetches only
 * what is new. It is a cache and no more: over quota it is left out, after seven days it is thrown away, and a deleted
 * session leaves nothing.
 */
const prefix = "holdfast:acp-state:v1:";
const draftPrefix = "holdfast:draft:";
const keptMs = 7 * 24 * 3_600_000;

interface Entry {
  savedAt: number;
  value: unknown;
}

export function recallSession(id: string): unknown {
  const text = localStorage.getItem(prefix + id);
  if (text === null) return null;
  const entry = parse(text);
  if (entry !== null && Date.now() - entry.savedAt < keptMs) return entry.value;
  forgetSession(id);
  return null;
}

/** False where the browser has no room: the caller then replays from the daemon. */
export function rememberSession(id: string, value: unknown): boolean {
  try {
    localStorage.setItem(prefix + id, JSON.stringify({ savedAt: Date.now(), value } satisfies Entry));
    return true;
  } catch {
    // What does not fit must not stand there old either.
    forgetSession(id);
    return false;
  }
}

export function forgetSession(id: string): void {
  localStorage.removeItem(prefix + id);
  localStorage.removeItem(draftPrefix + id);
}

/** Drops what is too old or belongs to a session that is not there any more. */
export function sweepSessions(existing: ReadonlySet<string>): void {
  for (const key of Object.keys(localStorage)) {
    const its = [prefix, draftPrefix].find((one) => key.startsWith(one));
    if (its === undefined) continue;
    const id = key.slice(its.length);
    if (!existing.has(id)) forgetSession(id);
    else if (its === prefix) recallSession(id);
  }
}

function parse(text: string): Entry | null {
  try {
    const entry = JSON.parse(text) as Partial<Entry> | null;
    return typeof entry?.savedAt === "number" ? (entry as Entry) : null;
  } catch {
    return null;
  }
}
