/**
 * The build of a chat agent as a launch would start it now: the keeper script, the command, and the files it names, ours by
 * their bytes, others by size, modification time and version. An update of Holdfast that changes none of these restarts no
 * agent. A missing or unreadable file makes the build unknown, never a different one.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { crc32 } from "node:zlib";
import { keepWritten } from "../base/durable-file.ts";
import { findLaunchable, findProgram } from "../base/find-program.ts";
import { digestOf } from "../base/digest.ts";
import { isStaleBuild, settledBuildMs, type SeenBuild } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import type { Agents } from "../ports/agents.ts";

/** Our programs are small; Node itself is not, and its modification time changes with it. */
const maxReadBytes = 4 * 1024 * 1024;
/** Every observation of a chat session asks; files change with an installation alone. */
const rememberMs = 5_000;
/** During an installation. */
const rememberChangingMs = 1_000;
const rememberPathMs = 1_000;

export interface AgentCommand {
  argv: readonly string[];
  /** Its PATH at launch. */
  path: string;
  /** Arguments that were files at its last successful launch, possibly by an earlier daemon. */
  files?: readonly string[];
}

export interface AgentBuilds {
  /** Recorded with a launch. */
  of(command: AgentCommand): string;
  /** Whether a launch now would start a different build, and that build is known to exist. */
  isStale(command: AgentCommand, recorded: string): boolean;
}

interface Entry extends SeenBuild {
  text: string;
  at: number;
}

export function agentBuilds(keeper: string, now: () => number = () => performance.now()): AgentBuilds {
  const known = new Map<string, Entry>();
  /** Arguments that were files once: one that no longer exists is missing, not a different argument. */
  const files = new Set<string>();

  const inspect = (command: AgentCommand): Entry => {
    const key = [command.path, ...command.argv].join("\0");
    const before = known.get(key);
    const at = now();
    const settled = before !== undefined && before.build !== null && at - before.since >= 2 * settledBuildMs;
    if (before !== undefined && at - before.at < (settled ? rememberMs : rememberChangingMs)) return before;
    for (const word of command.files ?? []) files.add(word);
    const parts = command.argv.map((word, index) => identityOf(word, index, command.path, files));
    const text = `${basename(command.argv.at(-1) ?? "")} ${digestOf([keeper, ...parts.map((part, index) => part ?? command.argv[index]!)].join("\n"))}`;
    // Nothing can be launched without a command.
    const build = parts.length === 0 || parts.includes(null) ? null : text;
    const since = before !== undefined && before.build === build ? before.since : at;
    const entry = { text, build, since, at };
    known.set(key, entry);
    return entry;
  };
  return {
    of: (command) => inspect(command).text,
    isStale: (command, recorded) => isStaleBuild(recorded, inspect(command), now()),
  };
}

/** Copies the keeper into the home, so that running agents do not depend on where Holdfast is installed. */
export function installKeeper(home: string, dist: string): { path: string; digest: string } {
  const text = readFileSync(join(dist, "keeper.sh"), "utf8");
  const digest = digestOf(text);
  const path = join(home, `keeper-${digest}.sh`);
  // Compares the content: a power cut right after the first start can leave an empty file.
  keepWritten(path, text, 0o700);
  return { path, digest };
}

/** The command of a session's chat agent, with the PATH and the files that a launch would use. */
export function agentCommands(
  agents: Pick<Agents, "of">,
  programs: {
    of(session: SessionState): { is: "found"; path: string } | { is: "missing" } | null;
    files(session: SessionState): readonly string[];
  },
): (session: SessionState) => AgentCommand {
  const known = new Map<string, { path: string; files: readonly string[]; at: number }>();
  return (session) => {
    const argv = agents.of(session)?.chat?.command ?? [];
    const key = JSON.stringify([session.project, session.agent, argv]);
    const before = known.get(key);
    if (before !== undefined && performance.now() - before.at < rememberPathMs) return { argv, ...before };
    const chat = { ...session, kind: "chat" as const };
    const program = programs.of(chat);
    const path = program?.is === "found" ? program.path : (process.env["PATH"] ?? "");
    const now = { path, files: programs.files(chat), at: performance.now() };
    known.set(key, now);
    return { argv, ...now };
  };
}

/** A file by its content, wherever this build of Holdfast keeps its copy; any other argument by its text. Null if missing. */
function identityOf(word: string, index: number, path: string, files: Set<string>): string | null {
  try {
    const found = index > 0 ? findFile(word, path) : findStart(word, path);
    if (found === null) return index === 0 || files.has(word) ? null : word;
    const identity = ofFile(word, found);
    if (identity !== null) files.add(word);
    return identity ?? word;
  } catch {
    // Removed or replaced during the read.
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

/** Null if the path exists but is not a file. */
function ofFile(word: string, found: string): string | null {
  const path = isAbsolute(word) ? word : realpathSync(found);
  const stat = statSync(path);
  if (!stat.isFile()) return null;
  // Our own programs have absolute paths: every update copies them, though their content may be the same.
  if (isAbsolute(word) && stat.size <= maxReadBytes) return `${basename(path)} ${crc32(readFileSync(path))}`;
  const identity = `${basename(path)} ${stat.size} ${Math.floor(stat.mtimeMs)}`;
  return isAbsolute(word) ? identity : `${identity} ${packageVersion(path)}`;
}

/** npm gives every file of every version the same time, and an agent's command is often a short script that never changes. */
function packageVersion(path: string): string {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      return String((JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: unknown }).version);
    } catch {
      // Missing or unreadable: one folder up.
    }
  }
  return "";
}
