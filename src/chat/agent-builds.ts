/**
 * What would be launched now for a chat agent: the keeper script, the command, and the files it names, ours by their
 * bytes, others by size, time of change and version. An update of Holdfast that touches none of these replaces no worker.
 * A file that is missing or cannot be read makes the build unknown, never another one.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { crc32 } from "node:zlib";
import { findLaunchable, findProgram } from "../base/find-program.ts";
import { digestOf } from "../base/digest.ts";
import { isStaleBuild, settledBuildMs, type SeenBuild } from "../model/runs.ts";

/** Programs of ours are small; Node itself is not, and changes with its time. */
const maxReadBytes = 4 * 1024 * 1024;
/** Asked for every chat session on every look; files change when somebody installs something. */
const rememberMs = 5_000;
/** While something is being installed. */
const rememberChangingMs = 1_000;

export interface WorkerCommand {
  argv: readonly string[];
  /** The PATH that it is launched with. */
  path: string;
  /** Words that were files at its last good launch, maybe under an earlier daemon. */
  files?: readonly string[];
}

export interface WorkerBuilds {
  /** For the record of a launch. */
  of(command: WorkerCommand): string;
  /** Whether something else would be launched now, and is known to be there. */
  isStale(command: WorkerCommand, recorded: string): boolean;
}

interface Entry extends SeenBuild {
  text: string;
  at: number;
}

export function workerBuilds(keeper: string, now: () => number = () => performance.now()): WorkerBuilds {
  const known = new Map<string, Entry>();
  /** Words that were files once: a word that is one no longer is missing, not another word. */
  const files = new Set<string>();

  const look = (command: WorkerCommand): Entry => {
    const key = [command.path, ...command.argv].join("\0");
    const before = known.get(key);
    const at = now();
    const settled = before !== undefined && before.build !== null && at - before.since >= 2 * settledBuildMs;
    if (before !== undefined && at - before.at < (settled ? rememberMs : rememberChangingMs)) return before;
    for (const word of command.files ?? []) files.add(word);
    const parts = command.argv.map((word, index) => identityOf(word, index, command.path, files));
    const text = `${basename(command.argv.at(-1) ?? "")} ${digestOf([keeper, ...parts.map((part, index) => part ?? command.argv[index]!)].join("\n"))}`;
    // Without a command nothing would be launched.
    const build = parts.length === 0 || parts.includes(null) ? null : text;
    const since = before !== undefined && before.build === build ? before.since : at;
    const entry = { text, build, since, at };
    known.set(key, entry);
    return entry;
  };
  return {
    of: (command) => look(command).text,
    isStale: (command, recorded) => isStaleBuild(recorded, look(command), now()),
  };
}

/** A file by what it is, wherever this build of Holdfast keeps its copy; anything else by its text. Null: it is missing. */
function identityOf(word: string, index: number, path: string, files: Set<string>): string | null {
  try {
    const found = index > 0 ? findFile(word, path) : findStart(word, path);
    if (found === null) return index === 0 || files.has(word) ? null : word;
    const identity = ofFile(word, found);
    if (identity !== null) files.add(word);
    return identity ?? word;
  } catch {
    // Removed or replaced while we read it.
    return null;
  }
}

function findStart(word: string, path: string): string | null {
  const found = findLaunchable(word, path);
  return found.is === "found" ? found.path : null;
}

function findFile(word: string, path: string): string | null {
  if (!isAbsolute(word)) return findProgram(word, path);
  return statSync(word, { throwIfNoEntry: false }) === undefined ? null : word;
}

/** Null for what is there and not a file. */
function ofFile(word: string, found: string): string | null {
  const path = isAbsolute(word) ? word : realpathSync(found);
  const stat = statSync(path);
  if (!stat.isFile()) return null;
  // Absolute is what is ours: rebuilt and copied with every update, though it itself may be the same.
  if (isAbsolute(word) && stat.size <= maxReadBytes) return `${basename(path)} ${crc32(readFileSync(path))}`;
  const identity = `${basename(path)} ${stat.size} ${Math.floor(stat.mtimeMs)}`;
  return isAbsolute(word) ? identity : `${identity} ${packageVersion(path)}`;
}

/** npm gives every file of every version the same time, and an agent's command is often a few lines that never change. */
function packageVersion(path: string): string {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return String((JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: unknown }).version);
    } catch {
      // Not here, or none that can be read: one folder up.
    }
  }
  return "";
}
