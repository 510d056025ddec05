/**
 * Whether a directory's disk takes a write, found out by one: a disk that failed under way (a cable, a bad sector, a network
 * mount) refuses writes although its permissions and mount options allow them.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasNoRoom } from "./durable-file.ts";

export type DiskTrouble = "full" | "read-only" | "failing";

const probeBytes = 4096;

/** Null where it can be written, or where what is wrong lies elsewhere. */
export function probeDisk(directory: string): DiskTrouble | null {
  // Named as an interrupted write, so that `doctor` removes what a crash leaves of it.
  const path = join(directory, `.probe.${process.pid}-0.tmp`);
  try {
    const file = openSync(path, "w", 0o600);
    try {
      writeFileSync(file, Buffer.alloc(probeBytes, 1));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    rmSync(path, { force: true });
    return null;
  } catch (error) {
    const trouble = diskTrouble(error);
    if (trouble === "full") rmSync(path, { force: true });
    return trouble;
  }
}

/** What a refused call tells of the disk, or null. */
export function diskTrouble(error: unknown): DiskTrouble | null {
  if (hasNoRoom(error)) return "full";
  switch ((error as NodeJS.ErrnoException | null)?.code ?? "") {
    case "EROFS":
      return "read-only";
    case "EIO":
    case "ENXIO":
    case "ENODEV":
    case "ESTALE":
      return "failing";
    default:
      return null;
  }
}
