/** What a person writes for an issue or pull request: `123`, `#123`, `!7`, `owner/name#123`, or its address. */

export interface Reference {
  /** Null: the tracker's own repository. */
  repo: string | null;
  number: number;
}

/** `kinds` are the words an address has before the number: `issues`, `pull`, `merge_requests`. */
export function readReference(text: string, webOrigin: string, kinds: readonly string[]): Reference | null {
  const short = /^(?:([\w.-]+(?:\/[\w.-]+)+))?[#!]?(\d{1,9})$/.exec(text.trim());
  if (short !== null && (short[1] === undefined || /[#!]/.test(text))) {
    return { repo: short[1] ?? null, number: Number(short[2]) };
  }
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.origin !== webOrigin) return null;
  const path = new RegExp(`^/([\\w.-]+(?:/[\\w.-]+)+?)/(?:-/)?(?:${kinds.join("|")})/(\\d{1,9})(?:/|$)`);
  const parts = path.exec(url.pathname);
  return parts === null ? null : { repo: parts[1]!, number: Number(parts[2]) };
}

export function sameRepo(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
