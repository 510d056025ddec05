/** A value that this browser keeps for a week, and no more than a cache: what cannot be read or is older is thrown away. */
const keptMs = 7 * 24 * 3_600_000;

interface Entry {
  savedAt: number;
  value: unknown;
}

export function recallEntry(key: string): unknown {
  const text = localStorage.getItem(key);
  if (text === null) return null;
  const entry = parse(text);
  if (entry !== null && Date.now() - entry.savedAt < keptMs) return entry.value;
  localStorage.removeItem(key);
  return null;
}

/** False where there is no room, or none is given: what does not fit must not stand there old either. */
export function keepEntry(key: string, value: unknown, mostCharacters = Infinity): boolean {
  const text = JSON.stringify({ savedAt: Date.now(), value } satisfies Entry);
  try {
    if (text.length <= mostCharacters) {
      localStorage.setItem(key, text);
      return true;
    }
  } catch {
    // Over quota.
  }
  localStorage.removeItem(key);
  return false;
}

function parse(text: string): Entry | null {
  try {
    const entry = JSON.parse(text) as Partial<Entry> | null;
    return typeof entry?.savedAt === "number" ? (entry as Entry) : null;
  } catch {
    return null;
  }
}
