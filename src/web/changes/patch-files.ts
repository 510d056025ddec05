/** The patch of a worktree, taken apart by file, and the text of a line in it. */
import { parsePatchFiles, setLanguageOverride, type FileDiffMetadata } from "@pierre/diffs";
import { visibleText } from "../shared/ui/visible-text.ts";
import { languageOf } from "./languages.ts";

export function readPatch(patch: string): Map<string, FileDiffMetadata> {
  // Line ends of other systems are no text; every other hidden letter is shown as what it is.
  const shown = visibleText(patch.replaceAll("\r\n", "\n"));
  const files = parsePatchFiles(shown).flatMap(({ files: some }) => some);
  return new Map(files.map((file) => [file.name, setLanguageOverride(file, languageOf(file.name))]));
}

/** Null where the diff does not show that line. */
export function lineText(file: FileDiffMetadata, side: "additions" | "deletions", line: number): string | null {
  for (const hunk of file.hunks) {
    const [start, count, index, lines] =
      side === "additions"
        ? [hunk.additionStart, hunk.additionCount, hunk.additionLineIndex, file.additionLines]
        : [hunk.deletionStart, hunk.deletionCount, hunk.deletionLineIndex, file.deletionLines];
    if (line >= start && line < start + count) return (lines[index + line - start] ?? "").replace(/\n$/, "");
  }
  return null;
}
