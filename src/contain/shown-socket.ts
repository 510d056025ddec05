/** The agents' socket in a folder that contained agents may see: a link to it, made anew for each daemon. */
import { linkSync, mkdirSync, statSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Below the folder of all contained sessions; no session has this name. */
export const socketFolder = ".socket";

/** False where there is no such socket. */
export function showSocket(socket: string, directory: string): boolean {
  const real = statSync(socket, { throwIfNoEntry: false });
  if (real?.isSocket() !== true) return false;
  const shown = join(directory, socketFolder, basename(socket));
  mkdirSync(dirname(shown), { recursive: true, mode: 0o700 });
  const now = statSync(shown, { throwIfNoEntry: false });
  if (now?.ino === real.ino) return true;
  if (now !== undefined) unlinkSync(shown);
  try {
    linkSync(socket, shown);
    return true;
  } catch {
    // On another file system, where a home's path is too long for a socket: agents then do without.
    return false;
  }
}
