/**
 * Who holds the lock of a home, as the kernel lists it: without opening the file, which is its holder's alone. Null where
 * the system does not list locks, or not those of other users' processes.
 */
import { readFileSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { identify, type Identity } from "./pid.ts";

export function lockHolder(path: string): Identity | null {
  try {
    const { ino } = statSync(path);
    const real = realpathSync(path);
    for (const line of readFileSync("/proc/locks", "utf8").split("\n")) {
      const [, kind, , , pid, place] = line.trim().split(/\s+/);
      // Device numbers of some file systems differ from what stat reports, so the open file is the proof.
      if (kind !== "POSIX" || place?.split(":")[2] !== String(ino)) continue;
      if (hasOpen(Number(pid), real)) return identify(Number(pid));
    }
  } catch {
    // Not listed here, or no lock was ever made.
  }
  return null;
}

function hasOpen(pid: number, path: string): boolean {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory).some((descriptor) => {
    try {
      return readlinkSync(`${directory}/${descriptor}`) === path;
    } catch {
      return false;
    }
  });
}
