/** What a person may write for an issue, and the one name that it has. */

/** `123`, `#123`, `INT-1234`, or an address that ends in one of these or names it. Null for anything else. */
export function issueKey(reference: string): string | null {
  const text = reference.trim();
  if (/^#?\d{1,12}$/.test(text)) return text.replace("#", "");
  if (/^[A-Za-z][A-Za-z0-9]{0,9}-\d{1,9}$/.test(text)) return text.toUpperCase();
  if (!/^https?:\/\//i.test(text)) return null;
  const parts = text.split(/[?#]/)[0]!.split("/");
  const place = parts.findIndex((part) => /^(issues?|work_items|pull|merge_requests)$/.test(part));
  const named = place === -1 ? undefined : parts[place + 1];
  return named === undefined || /^https?:/i.test(named) ? null : issueKey(named);
}

/** Whether a tracker could have an issue of this name; anything else is a name that the person gave. */
export function looksLikeIssue(reference: string): boolean {
  return issueKey(reference) !== null;
}

export function isSameIssue(a: string, b: string): boolean {
  return a === b || (issueKey(a) !== null && issueKey(a) === issueKey(b));
}
