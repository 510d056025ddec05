/** The known word that a mistyped one most likely meant, or null when none is near. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null;
  // A third of the letters may be wrong; of a short word one.
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const distance = candidate.startsWith(word) && word.length > 1 ? 1 : editDistance(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of two neighbours. */
function editDistance(from: string, to: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = previous[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      let least = Math.min(change, previous[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        least = Math.min(least, older[j - 2]! + 1);
      }
      row.push(least);
    }
    older = previous;
    previous = row;
  }
  return previous[to.length]!;
}
