/** Lines cut to a terminal's width. Pure; colors count for nothing and survive the cut. */

// oxlint-disable-next-line no-control-regex -- color sequences begin with one
const pieces = /\u001b\[[0-9;]*m|[^\u001b]/gu;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const narrow = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;

/** A line that is too long ends in `…`. */
export function cut(line: string, columns: number): string {
  // No character is wider than two columns, so most lines need no closer inspection.
  if (line.length * 2 <= columns) return line;
  let width = 0;
  let kept = "";
  let atLimit = "";
  let styled = false;
  for (const [piece] of line.matchAll(pieces)) {
    if (piece.startsWith("\u001b")) {
      kept += piece;
      styled = true;
      continue;
    }
    const more = narrow.test(piece) ? 0 : wide.test(piece) ? 2 : 1;
    if (width + more > columns) return `${atLimit}…${styled ? "\u001b[0m" : ""}`;
    width += more;
    kept += piece;
    if (width <= columns - 1) atLimit = kept;
  }
  return kept;
}
