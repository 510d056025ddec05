/** Writes one file of the worktree, and nothing outside of it: a prompt is not a licence for the rest of the disk. */
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";

export type Edited =
  | { edited: true; path: string; oldText: string | null; newText: string }
  | { edited: false; why: string };

export function editFile(cwd: string, path: string, text: string): Edited {
  const target = resolve(cwd, path);
  const why = refusal(cwd, target);
  if (why !== null) return { edited: false, why };
  const oldText = existsSync(target) ? readFileSync(target, "utf8") : null;
  const newText = `${text}\n`;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, newText);
  return { edited: true, path: target, oldText, newText };
}

function refusal(cwd: string, target: string): string | null {
  // By real paths: a link in the middle of a path leads out just as `..` does.
  if (!(realpathSync(existingParent(target)) + sep).startsWith(realpathSync(cwd) + sep)) {
    return `${target} is outside of the working directory`;
  }
  if (target.split(sep).includes(".git")) return "what is below .git is git's";
  const stats = lstatSync(target, { throwIfNoEntry: false });
  return stats === undefined || stats.isFile() ? null : `${target} is not a plain file`;
}

function existingParent(target: string): string {
  const parent = dirname(target);
  return existsSync(parent) ? parent : existingParent(parent);
}
