/** Finds the daemon of this home by the file it wrote, believed only together with the identity of its process. */
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DaemonFile } from "../base/launch-options.ts";
import type { Paths } from "../base/paths.ts";
import { type Identity, isAlive } from "../base/pid.ts";

export type Found =
  | { daemon: "running"; file: DaemonFile }
  /** Its starter wrote down that it exists; it does not answer yet. */
  | { daemon: "starting"; identity: Identity }
  /** `stale`: a daemon file is left of one that is gone. */
  | { daemon: "none"; stale: boolean };

export function findDaemon(paths: Paths): Found {
  const file = readDaemonFile(paths.daemonFile);
  if (file !== null && isAlive(file)) return { daemon: "running", file };
  const starting = listStarting(paths).find(({ identity }) => isAlive(identity));
  if (starting !== undefined) return { daemon: "starting", identity: starting.identity };
  return { daemon: "none", stale: file !== null };
}

/** Null when there is none or it does not hold what it should: then nothing may be concluded from it. */
function readDaemonFile(path: string): DaemonFile | null {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<DaemonFile>;
    const whole =
      Number.isSafeInteger(value.pid) && typeof value.startTime === "string" && typeof value.socket === "string";
    return whole ? (value as DaemonFile) : null;
  } catch {
    return null;
  }
}

const startingName = /^starting-\d+\.json$/;

/** Where the starter of a daemon notes its identity until it has reported: one file each, so that two starters never meet. */
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

/** Notes of starters that are gone say nothing any more. */
export function clearStarting(paths: Paths): void {
  for (const { path, identity } of listStarting(paths)) if (!isAlive(identity)) rmSync(path, { force: true });
}
