/**
 * What would be launched now for a chat agent: the keeper script, the command, and the files it names, ours by their
 * bytes, others by size, time of change and version. An update of Holdfast that touches none of these replaces no worker.
 */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { crc32 } from "node:zlib";
import { findProgram } from "../base/find-program.ts";
import { digestOf } from "../base/digest.ts";
import type { AgentDefinition } from "../ports/agents.ts";

/** Programs of ours are small; Node itself is not, and changes with its time. */
const maxReadBytes = 4 * 1024 * 1024;
/** Asked for every chat session on every look; files change when somebody installs something. */
const rememberMs = 5_000;

export function workerBuilds(keeper: string): (agent: AgentDefinition) => string {
  const known = new Map<string, { build: string; at: number }>();
  return (agent) => {
    const command = agent.chat?.command ?? [];
    const key = command.join("\0");
    const found = known.get(key);
    if (found !== undefined && performance.now() - found.at < rememberMs) return found.build;
    const build = `${basename(command.at(-1) ?? "")} ${digestOf([keeper, ...command.map(identityOf)].join("\n"))}`;
    known.set(key, { build, at: performance.now() });
    return build;
  };
}

/** A file by what it is, wherever this build of Holdfast keeps its copy; anything else by its text. */
function identityOf(word: string): string {
  const found = isAbsolute(word) ? word : findProgram(word, process.env["PATH"]);
  if (found === null) return word;
  const path = isAbsolute(word) ? word : realpathSync(found);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return word;
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
