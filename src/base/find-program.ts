/** Where a command's program is: its own absolute path, or the first of that name on PATH; null where there is none. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

export function findProgram(command: string, path: string | undefined): string | null {
  if (isAbsolute(command)) return isProgram(command) ? command : null;
  // An empty entry would mean the directory that we happen to be in.
  const directories = (path ?? "").split(delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => join(directory, command)).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    // Before the question that answers by throwing: most directories do not have it.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
