/** Where the paths of a tool call lead, for permission rules: resolved in the file system, relative to the worktree. */
import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import type { CallPath } from "../model/permission-rules.ts";

export function callPath(worktree: string, cwd: string | null, path: string): CallPath {
  const plain = path.startsWith("file://") ? ofUri(path) : path;
  const base = cwd === null ? worktree : absolute(worktree, cwd);
  const full = absolute(base, plain);
  const root = resolve(worktree) ?? worktree;
  const resolved = resolve(normalize(full));
  return {
    resolved: resolved === null ? null : within(root, resolved),
    written: within(root, within(worktree, normalize(full))),
    climbs: plain.split("/").includes(".."),
  };
}

/** Whether a directory is the worktree or below it, links followed. */
export function isInside(worktree: string, directory: string): boolean {
  const { resolved, climbs } = callPath(worktree, null, directory);
  return resolved !== null && !climbs && !isAbsolute(resolved);
}

function absolute(base: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? path : join(base, path);
}

/** Links followed as far as the path exists; null where that cannot be found out. */
function resolve(path: string): string | null {
  const missing: string[] = [];
  for (let here = path; ; here = dirname(here)) {
    try {
      return join(realpathSync.native(here), ...missing);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || here === dirname(here)) return null;
      // A link whose target is missing: writing to it creates that target, wherever it is.
      if (isLink(here)) return null;
      missing.unshift(basename(here));
    }
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function within(root: string, path: string): string {
  if (path === root) return "";
  return path.startsWith(root === "/" ? root : `${root}/`) ? path.slice(root.length + 1) : path;
}

function ofUri(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
