/**
 * The plain case of where a new branch starts, from git's ref files and without a process: the branch is not there yet,
 * and all that is known of the default branch is one commit. In any other case, or any doubt, null: then git is asked.
 */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { readLine } from "./read-regular.ts";

/** Tens of thousands of packed refs; to read more costs as much as a process. */
const maxPackedBytes = 2 * 1024 * 1024;
const objectId = /^[0-9a-f]{40}$/;

export function readPlainStart(commonDir: string, branch: string, defaultBranch: string): string | null {
  const packed = readPacked(commonDir);
  if (packed === null) return null;
  const read = (ref: string): string | null => readLine(`${commonDir}/${ref}`) ?? findPacked(packed, ref);
  if (read(`refs/heads/${branch}`) !== null || read(`refs/remotes/origin/${branch}`) !== null) return null;
  // Which remote counts beside origin stands in the configuration.
  if (remotesOf(commonDir, packed).some((remote) => remote !== "origin")) return null;
  const local = read(`refs/heads/${defaultBranch}`);
  const remote = read(`refs/remotes/origin/${defaultBranch}`);
  const commit = local ?? remote;
  if (commit === null || (local !== null && remote !== null && local !== remote)) return null;
  // A symbolic ref, a half-written file, another object format.
  return objectId.test(commit) ? commit : null;
}

/** Null where refs are stored otherwise, or are too many. */
function readPacked(commonDir: string): string | null {
  if (existsSync(`${commonDir}/reftable`)) return null;
  const file = `${commonDir}/packed-refs`;
  try {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxPackedBytes) return null;
    return size === 0 ? "" : readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** Lines of `<object id> <ref>`; what begins with `^` belongs to the tag above it. */
function findPacked(packed: string, ref: string): string | null {
  const at = packed.indexOf(` ${ref}\n`);
  return at < 0 ? null : packed.slice(packed.lastIndexOf("\n", at) + 1, at);
}

function remotesOf(commonDir: string, packed: string): string[] {
  const names = [...packed.matchAll(/ refs\/remotes\/([^/\n]+)\//g)].map((match) => match[1]!);
  const loose = `${commonDir}/refs/remotes`;
  return [...new Set([...names, ...(existsSync(loose) ? readdirSync(loose) : [])])];
}
