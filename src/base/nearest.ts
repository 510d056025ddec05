/** The most likely intended name, or null if none is close. */
export function nearest(typed: string, valid: readonly string[]): string | null {
  const wanted = plain(typed);
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const name of valid) {
    // A prefix is the name, cut short.
    const distance = wanted.length > 1 && plain(name).startsWith(wanted) ? 1 : edits(wanted, plain(name));
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return bestDistance <= tolerance(wanted.length) ? best : null;
}

/** `default_branch`, `Default-Branch` and `defaultBranch` count as equal. */
function plain(name: string): string {
  return name
    .slice(0, maxCompared)
    .toLowerCase()
    .replace(/[_\- .]/g, "");
}

/** One typo per three letters, at most three. */
function tolerance(length: number): number {
  return Math.min(3, Math.max(1, Math.floor(length / 3)));
}

/** Longer names are not typos, and comparing them takes time. */
const maxCompared = 64;

/** Counts insertions, deletions, replacements and swaps of neighbors. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length] ?? 0;
}
