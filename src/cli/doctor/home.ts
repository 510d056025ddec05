/** Checks the home: permissions, free space and leftovers of earlier runs. */
import { chmodSync, existsSync, lstatSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { isTemporary } from "../../base/durable-file.ts";
import type { Paths } from "../../base/paths.ts";
import { isAlive } from "../../base/pid.ts";
import { findDaemon, listStarting } from "../system/daemon/find-daemon.ts";
import { listOldBuilds } from "../system/daemon/install-build.ts";
import { count } from "../render/text.ts";
import { homeProblem } from "../system/daemon/write-home.ts";
import { type Finding, finding } from "./finding.ts";
import { quoteShellWord } from "../../model/text.ts";

const megabyte = 1024 * 1024;
/** Below the first, a worktree of an ordinary project no longer fits; below the second, not even the log. */
const lowBytes = 1024 * megabyte;
const emptyBytes = 100 * megabyte;

export function checkHome(paths: Paths): Finding[] {
  if (!existsSync(paths.home)) {
    return [finding("home", "info", `${paths.home} does not exist yet; the first start creates it.`)];
  }
  const problem = homeProblem(paths.home);
  const home = problem === null ? [] : [finding("home", "fail", problem.message, { fix: problem.fix })];
  // Nothing else to check if the home is not a directory.
  if (!statSync(paths.home).isDirectory()) return home;
  return [...home, ...checkPermissions(paths), ...checkDisk(paths.home), ...checkLeftovers(paths)];
}

/** Files with credentials or prompts. */
function privateFiles(paths: Paths): string[] {
  const { token, passphrase, passphraseMark, push, database, daemonFile, launchFile } = paths;
  return [token, passphrase, passphraseMark, push, database, `${database}-wal`, daemonFile, launchFile];
}

function checkPermissions(paths: Paths): Finding[] {
  const wrong = [...tooOpen([paths.home, paths.run, paths.logs], 0o700), ...tooOpen(privateFiles(paths), 0o600)];
  if (wrong.length === 0) return [finding("permissions", "ok", `${paths.home} is private to you.`)];
  return wrong.map(({ path, mode, wanted }) =>
    finding("permissions", "fail", `Other users can access ${path} (mode ${mode.toString(8)}).`, {
      fix: `chmod ${wanted.toString(8)} ${quoteShellWord(path)}`,
      repair: () => chmodSync(path, wanted),
    }),
  );
}

function tooOpen(candidates: readonly string[], wanted: number): { path: string; mode: number; wanted: number }[] {
  return candidates.flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return [];
    const mode = stat.mode & 0o777;
    return (mode & 0o077) === 0 ? [] : [{ path, mode, wanted }];
  });
}

function checkDisk(home: string): Finding[] {
  const { bavail, bsize } = statfsSync(home);
  return [judgeSpace(bavail * bsize, home)];
}

export function judgeSpace(freeBytes: number, home: string): Finding {
  const free = `${Math.floor(freeBytes / megabyte)} MB free at ${home}.`;
  const fix = "Free space: holdfast trash empty, holdfast session cleanup.";
  if (freeBytes < emptyBytes) return finding("disk", "fail", free, { fix });
  return freeBytes < lowBytes ? finding("disk", "warn", free, { fix }) : finding("disk", "ok", free);
}

/** Interrupted writes leave their temporary file; no write takes this long. */
const abandonedAfterMs = 10 * 60_000;

function checkLeftovers(paths: Paths): Finding[] {
  const found = findDaemon(paths);
  const stale: { what: string; path: string }[] = [];
  if (found.daemon === "none") {
    if (existsSync(paths.daemonFile))
      stale.push({ what: "a daemon.json left by a daemon that is no longer running", path: paths.daemonFile });
    if (lstatSync(paths.socket, { throwIfNoEntry: false })?.isSocket() === true) {
      stale.push({ what: "a socket without a listener", path: paths.socket });
    }
  }
  for (const { path, identity } of listStarting(paths)) {
    if (!isAlive(identity)) stale.push({ what: "a leftover startup file", path });
  }
  for (const path of listTemporary(paths.home)) stale.push({ what: "an interrupted write", path });
  const results = stale.map(({ what, path }) =>
    finding("leftovers", "warn", `There is ${what}: ${path}`, {
      fix: `rm ${quoteShellWord(path)}`,
      // Checked again: a daemon may have started since.
      repair: () => {
        if (found.daemon !== "none" || findDaemon(paths).daemon === "none") {
          rmSync(path, { recursive: true, force: true });
        }
      },
    }),
  );
  const builds = listOldBuilds(paths, null);
  // Without a daemon, the newest one is for the next start.
  if (found.daemon !== "none" && builds.length > 0) {
    results.push(
      finding("leftovers", "info", `${count(builds.length, "old build")} no longer in use: ${builds.join(", ")}`, {
        fix: "Removed at the next start.",
        repair: () => builds.forEach((path) => rmSync(path, { recursive: true, force: true })),
      }),
    );
  }
  return results;
}

function listTemporary(directory: string): string[] {
  return readdirSync(directory)
    .filter(isTemporary)
    .map((name) => join(directory, name))
    .filter(
      (path) => Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > abandonedAfterMs,
    );
}
