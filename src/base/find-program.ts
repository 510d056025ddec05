/** Finds a command's program: its absolute path, or the first of that name on PATH; null if missing. */
import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

export function findProgram(command: string, path: string | undefined): string | null {
  if (isAbsolute(command)) return isProgram(command) ? command : null;
  // An empty entry would mean the current directory.
  const directories = (path ?? "").split(delimiter).filter((directory) => directory !== "");
  return directories.map((directory) => join(directory, command)).find(isProgram) ?? null;
}

export type Launchable =
  /** `directories`: of the program, and of its script's interpreter. */
  | { is: "found"; path: string; directories: string[] }
  /** `program`: the missing one, the command or its interpreter. */
  | { is: "missing"; program: string; neededBy: string | null };

/** Whether a command could be launched now: a script also needs its interpreter. */
export function findLaunchable(command: string, path: string | undefined): Launchable {
  const found = findProgram(command, path);
  if (found === null) return { is: "missing", program: command, neededBy: null };
  const interpreter = interpreterOf(found);
  if (interpreter === null) return { is: "found", path: found, directories: [dirname(found)] };
  const runner = findProgram(interpreter, path);
  if (runner === null) return { is: "missing", program: interpreter, neededBy: found };
  return { is: "found", path: found, directories: [...new Set([dirname(found), dirname(runner)])] };
}

/** Longer than the first line that the kernel reads. */
const firstLineBytes = 512;

/** The program that `#!` names, also through `env`. Null if it is not a readable script. */
function interpreterOf(file: string): string | null {
  let line: string;
  try {
    const handle = openSync(realpathSync(file), "r");
    try {
      const bytes = Buffer.alloc(firstLineBytes);
      line = bytes.toString("utf8", 0, readSync(handle, bytes, 0, firstLineBytes, 0)).split("\n", 1)[0]!;
    } finally {
      closeSync(handle);
    }
  } catch {
    return null;
  }
  if (!line.startsWith("#!")) return null;
  const [program = "", ...rest] = line.slice(2).trim().split(/\s+/);
  if (program === "") return null;
  if (basename(program) !== "env") return program;
  // `env -S NAME=value program`
  return rest.find((word) => !word.startsWith("-") && !word.includes("=")) ?? program;
}

function isProgram(file: string): boolean {
  try {
    // Before the check that throws: most directories do not contain it.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
