/** Finds the daemon of this home by the file it wrote, believed only together with the identity of its process. */
import { readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "../../../base/program.ts";
import type { DaemonFile } from "../../../base/launch-options.ts";
import { lockHolder, type Identity, isAlive } from "../../../base/pid.ts";
import type { Paths } from "../../../base/paths.ts";

export type Found =
  | { daemon: "running"; file: DaemonFile }
  /** Its starter wrote a note, or it holds the home's lock; it does not respond yet. */
  | { daemon: "starting"; identity: Identity; known: "by note" | "by lock" }
  /** `stale`: a dead daemon left its file. */
  | { daemon: "none"; stale: boolean };

export function findDaemon(paths: Paths): Found {
  const file = readDaemonFile(paths.daemonFile);
  if (file !== null && isAlive(file) && !isOfAnother(file, paths)) return { daemon: "running", file };
  const starting = listStarting(paths).find(({ identity }) => isAlive(identity));
  if (starting !== undefined) return { daemon: "starting", identity: starting.identity, known: "by note" };
  const holder = lockHolder(paths.lock);
  if (holder !== null) return { daemon: "starting", identity: holder, known: "by lock" };
  return { daemon: "none", stale: file !== null };
}

/**
 * A copied home contains the daemon file of the original, whose daemon must not be called. A daemon's working directory is
 * its home, so the lock there distinguishes them, however the paths are spelled.
 */
function isOfAnother({ pid, socket }: DaemonFile, paths: Paths): boolean {
  if (socket === paths.socket) return false;
  const its = statSync(`/proc/${pid}/cwd/${basename(paths.lock)}`, { throwIfNoEntry: false });
  const ours = statSync(paths.lock, { throwIfNoEntry: false });
  return its !== undefined && (its.dev !== ours?.dev || its.ino !== ours.ino);
}

/** Whether a daemon of this build runs another program than the installed one. */
export function isReplaced(daemonBuild: string): boolean {
  return daemonBuild !== build;
}

/** A daemon whose file was removed rewrites it immediately; one that starts in the foreground writes it later. */
const rewrittenMs = 1_000;
const pollMs = 25;

/** Like `findDaemon`, but gives a daemon that only holds the lock a moment to write its file [DAEMON-18]. */
export async function findSettledDaemon(paths: Paths): Promise<Found> {
  const until = Date.now() + rewrittenMs;
  for (;;) {
    const found = findDaemon(paths);
    if (found.daemon !== "starting" || found.known === "by note" || Date.now() >= until) return found;
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
}

/** Null if it is missing or invalid: then nothing may be concluded from it. */
function readDaemonFile(path: string): DaemonFile | null {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<DaemonFile>;
    const isValid =
      Number.isSafeInteger(value.pid) && typeof value.startTime === "string" && typeof value.socket === "string";
    return isValid ? (value as DaemonFile) : null;
  } catch {
    return null;
  }
}

const startingName = /^starting-\d+\.json$/;

/** Where a starter notes the daemon's identity until it has reported; one file per starter, so that two never collide. */
export function startingFile(paths: Paths, pid: number): string {
  return join(paths.run, `starting-${pid}.json`);
}

export function listStarting(paths: Paths): { path: string; identity: Identity }[] {
  let names: string[];
  try {
    names = readdirSync(paths.run);
  } catch {
    return [];
  }
  return names
    .filter((name) => startingName.test(name))
    .flatMap((name) => {
      const path = join(paths.run, name);
      try {
        return [{ path, identity: JSON.parse(readFileSync(path, "utf8")) as Identity }];
      } catch {
        return [];
      }
    });
}

/** Removes notes of daemons that are no longer running. */
export function clearStarting(paths: Paths): void {
  for (const { path, identity } of listStarting(paths)) if (!isAlive(identity)) rmSync(path, { force: true });
}
