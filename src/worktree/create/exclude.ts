/** Keeps files that we or an agent put into a worktree out of `git status`, without touching a tracked file. */
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { withPersonalUmask } from "../../base/program.ts";

/** Adds patterns to the repository's own `info/exclude`, each once. git keeps one such file for all worktrees. */
export function excludePatterns(commonDir: string, patterns: readonly string[]): void {
  const file = join(commonDir, "info", "exclude");
  const text = readOrEmpty(file);
  const known = new Set(text.split("\n").map((line) => line.trimEnd()));
  const missing = [...new Set(patterns)].filter((pattern) => !known.has(pattern));
  if (missing.length === 0) return;
  withPersonalUmask(() => {
    mkdirSync(dirname(file), { recursive: true });
    // Appended in one write: two sessions that start at once cannot lose each other's lines or the person's own.
    appendFileSync(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${missing.join("\n")}\n`);
  });
}

/** A path as an exclude pattern that means exactly this path. */
export function literalPattern(path: string): string {
  return `/${path.replaceAll(/[\\*?[\]!# ]/g, String.raw`\$&`)}`;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
