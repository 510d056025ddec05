/**
 * Copies the built program into the home, and the daemon runs from there: an `npm ci` or an upgrade under a running daemon
 * must not take away the chunks that it loads later.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build } from "../../../base/program.ts";
import type { Paths } from "../../../base/paths.ts";
import { listProcesses } from "../../../base/pid.ts";
import { HoldfastError } from "../../../contract/error.ts";

const daemonBundle = "daemon.cjs";
/** The one package that is not bundled, because it has a native part; its platform's part lies beside it. */
const nativeScope = "@lydell";

/** The daemon's bundle in the home, put there if it is not yet. */
export function installBuild(paths: Paths, dist: string): string {
  if (!existsSync(join(dist, daemonBundle))) {
    throw new HoldfastError("preflight-failed", `The daemon is not built: ${join(dist, daemonBundle)} is missing.`, {
      hint: "Run `npm run build` in the checkout, or install the package again.",
    });
  }
  // A command that the daemon's own build runs (an agent that calls `holdfast`) is where it should be already.
  if (dirname(dist) === paths.builds) return join(dist, daemonBundle);
  let files: BuildFile[] = [];
  try {
    files = filesOf(dist);
    const target = join(paths.builds, `${build.replace(/[^A-Za-z0-9.+-]/g, "_")}-${fingerprint(files)}`);
    if (!isWhole(target, files) && copyBuild(dist, target, files)) forgetCompiled(paths);
    removeOldBuilds(paths, target);
    return join(target, daemonBundle);
  } catch (error) {
    if (!isReplaced(dist, files)) throw error;
    throw new HoldfastError("preflight-failed", `Holdfast itself is just being replaced in ${dist}.`, {
      hint: "Try again when the update or the build is done. Sessions keep running.",
      cause: error,
    });
  }
}

/** By an update or a build: its files are other ones than those that were to be copied, or are taken away just now. */
function isReplaced(dist: string, files: readonly BuildFile[]): boolean {
  try {
    return fingerprint(filesOf(dist)) !== fingerprint(files);
  } catch {
    return true;
  }
}

/**
 * False when another starter's copy is in place. A copy is put there by one rename, so what is there is complete, or left
 * half written by a power cut: it is judged once ours is ready, and never removed by a look that is older [DAEMON-3].
 */
function copyBuild(dist: string, target: string, files: readonly BuildFile[]): boolean {
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  try {
    // With its times: a bundled agent that an update did not change is not to be replaced for its new copy.
    cpSync(dist, temporary, { recursive: true, preserveTimestamps: true });
    const native = findNative(dist);
    if (native !== null) {
      cpSync(native, join(temporary, "node_modules", nativeScope), { recursive: true, dereference: true });
    }
    if (existsSync(target) && !isWhole(target, files)) putAside(target, files);
    renameSync(temporary, target);
    return true;
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Two starters at once: the other one's copy is as good as ours.
    if (!isWhole(target, files)) throw error;
    return false;
  }
}

/** Compiled code of the build before; entry.ts fills it again. A daemon that writes to it meanwhile may keep its part. */
function forgetCompiled(paths: Paths): void {
  const aside = join(paths.home, `.cache.${process.pid}-0.tmp`);
  try {
    renameSync(join(paths.home, "cache"), aside);
    rmSync(aside, { recursive: true, force: true });
  } catch {
    // None yet, or still being written: `doctor` removes what stays.
  }
}

function findNative(dist: string): string | null {
  for (let at = dirname(dist); ; at = dirname(at)) {
    const candidate = join(at, "node_modules", nativeScope);
    if (existsSync(candidate)) return candidate;
    if (at === dirname(at)) return null;
  }
}

/** Changes with every rebuild, also of the same commit: names, sizes and times of all files. */
function fingerprint(files: readonly BuildFile[]): string {
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
  const lines = files.map(({ name, size, mtimeMs }) => `${name} ${size} ${Math.floor(mtimeMs)}`);
  return hash.update(lines.sort().join("\n")).digest("hex").slice(0, 10);
}

/** A copy is not flushed file by file: after a power cut some of them can be empty or missing. */
function isWhole(target: string, files: readonly BuildFile[]): boolean {
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
    // Another starter replaced it since it was judged.
    if (isWhole(aside, files)) return renameSync(aside, target);
  } catch (error) {
    // Two starters at once: the other one was faster.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  rmSync(aside, { recursive: true, force: true });
}

/** Builds that nothing runs from any more, the one in use and interrupted copies of live starters left out. */
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

/** Another starter may be copying one, or about to start from one that it just copied. */
const settledAfterMs = 10 * 60_000;

export function removeOldBuilds(paths: Paths, current: string | null): void {
  for (const path of listOldBuilds(paths, current)) rmSync(path, { recursive: true, force: true });
}

/** Null where it cannot be told what runs: then nothing is old. */
function runningCommandLines(): string[] | null {
  if (process.platform !== "linux") return null;
  const { readFileSync } = process.getBuiltinModule("node:fs");
  return listProcesses().flatMap(({ pid }) => {
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, "utf8")];
    } catch {
      return [];
    }
  });
}
