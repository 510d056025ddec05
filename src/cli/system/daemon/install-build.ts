/**
 * Copies the built program into the home, from where the daemon runs: an `npm ci` or an upgrade must not remove the chunks
 * that a running daemon loads later.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build } from "../../../base/program.ts";
import type { Paths } from "../../../base/paths.ts";
import { listProcesses, readProc } from "../../../base/pid.ts";
import { HoldfastError } from "../../../contract/errors.ts";

const daemonBundle = "daemon.cjs";
/** The only package that is not bundled, because it has a native part for each platform. */
const nativeScope = "@lydell";

/** Returns the daemon's bundle in the home, copying it there if needed. */
export function installBuild(paths: Paths, dist: string): string {
  if (!existsSync(join(dist, daemonBundle))) {
    throw new HoldfastError("preflight-failed", `The daemon is not built: ${join(dist, daemonBundle)} is missing.`, {
      hint: "Run `npm run build` in the checkout, or reinstall the package.",
    });
  }
  // A command run from the daemon's own copy (an agent that calls `holdfast`) is already in place.
  if (dirname(dist) === paths.builds) return join(dist, daemonBundle);
  let files: BuildFile[] = [];
  try {
    files = filesOf(dist);
    const target = join(paths.builds, `${build.replace(/[^A-Za-z0-9.+-]/g, "_")}-${fingerprint(files)}`);
    if (!isComplete(target, files) && copyBuild(dist, target, files)) clearCompileCache(paths);
    removeOldBuilds(paths, target);
    return join(target, daemonBundle);
  } catch (error) {
    if (!isReplaced(dist, files)) throw error;
    throw new HoldfastError("preflight-failed", `Holdfast is being updated in ${dist}.`, {
      hint: "Try again when the update or build has finished. Sessions keep running.",
      cause: error,
    });
  }
}

/** Whether an update or a build changed or removed the files since they were listed. */
function isReplaced(dist: string, files: readonly BuildFile[]): boolean {
  try {
    return fingerprint(filesOf(dist)) !== fingerprint(files);
  } catch {
    return true;
  }
}

/**
 * False if another starter's copy is in place. A copy appears by one rename, so it is complete unless a power cut damaged
 * it; it is checked only once our copy is ready, and never removed because of an earlier check [DAEMON-3].
 */
function copyBuild(dist: string, target: string, files: readonly BuildFile[]): boolean {
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  try {
    // Keeps the times, so that a bundled agent that did not change is not replaced.
    cpSync(dist, temporary, { recursive: true, preserveTimestamps: true });
    const native = findNative(dist);
    if (native !== null) {
      cpSync(native, join(temporary, "node_modules", nativeScope), { recursive: true, dereference: true });
    }
    if (existsSync(target) && !isComplete(target, files)) putAside(target, files);
    renameSync(temporary, target);
    return true;
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Two starters at the same time: the other copy is as good as ours.
    if (!isComplete(target, files)) throw error;
    return false;
  }
}

/** Removes the compile cache of the previous build; entry.ts fills it again. */
function clearCompileCache(paths: Paths): void {
  const aside = join(paths.home, `.cache.${process.pid}-0.tmp`);
  try {
    renameSync(join(paths.home, "cache"), aside);
    rmSync(aside, { recursive: true, force: true });
  } catch {
    // None yet, or still being written: `doctor` removes leftovers.
  }
}

function findNative(dist: string): string | null {
  for (let at = dirname(dist); ; at = dirname(at)) {
    const candidate = join(at, "node_modules", nativeScope);
    if (existsSync(candidate)) return candidate;
    if (at === dirname(at)) return null;
  }
}

/** Changes with every rebuild, even of the same commit: names, sizes and times of all files. */
function fingerprint(files: readonly BuildFile[]): string {
  const hash = createHash("sha256");
  const lines = files.map(({ name, size, mtimeMs }) => `${name} ${size} ${Math.floor(mtimeMs)}`);
  return hash.update(lines.sort().join("\n")).digest("hex").slice(0, 10);
}

/** A copy is not flushed file by file: after a power cut some files may be empty or missing. */
function isComplete(target: string, files: readonly BuildFile[]): boolean {
  return files.every(({ name, size }) => statSync(join(target, name), { throwIfNoEntry: false })?.size === size);
}

interface BuildFile {
  name: string;
  size: number;
  mtimeMs: number;
}

function filesOf(directory: string): BuildFile[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const { size, mtimeMs } = statSync(path);
    return { name: relative(directory, path), size, mtimeMs };
  });
}

function putAside(target: string, files: readonly BuildFile[]): void {
  const aside = join(dirname(target), `.${basename(target)}.${process.pid}.old.tmp`);
  try {
    renameSync(target, aside);
    // Another starter replaced it since it was checked.
    if (isComplete(aside, files)) return renameSync(aside, target);
  } catch (error) {
    // Two starters at the same time: the other one was faster.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  rmSync(aside, { recursive: true, force: true });
}

/** Builds that no process runs from, except the current one and copies that may still be in progress. */
export function listOldBuilds(paths: Paths, current: string | null, now = Date.now()): string[] {
  let names: string[];
  try {
    names = readdirSync(paths.builds);
  } catch {
    return [];
  }
  const commands = runningCommandLines();
  if (commands === null) return [];
  return names
    .map((name) => join(paths.builds, name))
    .filter((path) => path !== current && !commands.some((line) => line.includes(`${path}/`)))
    .filter((path) => now - (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? now) > settledAfterMs);
}

/** Another starter may be copying a build, or about to start from it. */
const settledAfterMs = 10 * 60_000;

export function removeOldBuilds(paths: Paths, current: string | null): void {
  for (const path of listOldBuilds(paths, current)) rmSync(path, { recursive: true, force: true });
}

/** Null if the running programs cannot be determined: then no build is old. */
function runningCommandLines(): string[] | null {
  if (process.platform !== "linux") return null;
  return listProcesses().map(({ pid }) => readProc(pid, "cmdline"));
}
