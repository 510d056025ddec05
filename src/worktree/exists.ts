import { existsSync, statSync } from "node:fs";

export function exists(path: string): boolean | "unknown" {
  // The usual answer without the cost of a stat: only a directory has this name in it.
  if (existsSync(`${path}/.`)) return true;
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return "unknown";
  }
}
