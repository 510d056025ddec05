/** How the parts that need trust differ from those that were answered before. */
import type { TrustPart } from "../contract/trust.ts";

export interface TrustChange extends TrustPart {
  change: "same" | "added" | "removed";
}

/** Above this the middle is shown as removed and added: a hostile file must not take the daemon's time. */
const maxCells = 1_000_000;

/** In order, the removed ones before the added ones. */
export function trustDiff(before: readonly TrustPart[], after: readonly TrustPart[]): TrustChange[] {
  const isSame = (a: TrustPart | undefined, b: TrustPart | undefined): boolean =>
    a !== undefined && b !== undefined && a.key === b.key && a.value === b.value;
  let start = 0;
  while (isSame(before[start], after[start])) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && isSame(before[before.length - 1 - end], after[after.length - 1 - end])) end++;
  const marked = (change: TrustChange["change"]) => (part: TrustPart) => ({ change, ...part });
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const middle =
    old.length * now.length > maxCells
      ? [...old.map(marked("removed")), ...now.map(marked("added"))]
      : compared(old, now, isSame, marked);
  return [
    ...before.slice(0, start).map(marked("same")),
    ...middle,
    ...before.slice(before.length - end).map(marked("same")),
  ];
}

function compared(
  old: readonly TrustPart[],
  now: readonly TrustPart[],
  isSame: (a: TrustPart, b: TrustPart) => boolean,
  marked: (change: TrustChange["change"]) => (part: TrustPart) => TrustChange,
): TrustChange[] {
  // Length of the longest common run of parts from each pair of places on.
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      lengths[i * width + j] = isSame(old[i]!, now[j]!)
        ? lengths[(i + 1) * width + j + 1]! + 1
        : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  const changes: TrustChange[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && isSame(old[i]!, now[j]!)) {
      changes.push(marked("same")(old[i]!));
      [i, j] = [i + 1, j + 1];
    } else if (i < old.length && (j >= now.length || lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)) {
      changes.push(marked("removed")(old[i++]!));
    } else changes.push(marked("added")(now[j++]!));
  }
  return changes;
}
