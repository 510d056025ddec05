/** Writing to the home, where the system's refusal is told as what it means to the person. */
import { accessSync, constants, existsSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { hasNoRoom } from "../../../base/durable-file.ts";
import type { Paths } from "../../../base/paths.ts";
import { probeDisk } from "../../../base/durable-file.ts";
import { HoldfastError } from "../../../contract/error.ts";

const elsewhere = "or set HOLDFAST_HOME to another directory.";

/**
 * On a full disk the reserve's room is given away: a daemon that cannot start could not record that a session is to end
 * [DB-5]. The daemon then writes nothing but such ends until there is space again.
 */
export function writeHome<T>(paths: Paths, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (!hasNoRoom(error) || !existsSync(paths.reserve)) throw explained(paths.home, error);
    rmSync(paths.reserve, { force: true });
  }
  try {
    return write();
  } catch (error) {
    throw explained(paths.home, error);
  }
}

/** What the system refused in other words; anything else as it is. */
function explained(home: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  if (hasNoRoom(error)) {
    return new HoldfastError("disk-full", `The disk that holds ${home} is full; nothing was started.`, {
      hint: "Free some space and try again.",
      cause: error,
    });
  }
  const trouble = homeTrouble(home);
  if (trouble === null) return error instanceof HoldfastError ? error : refused(home, error);
  return new HoldfastError("preflight-failed", `${trouble.message} Nothing was started.`, {
    hint: trouble.fix,
    cause: error,
  });
}

function refused(home: string, error: Error): HoldfastError {
  return new HoldfastError("preflight-failed", `${home} cannot be written: ${error.message}. Nothing was started.`, {
    hint: `Correct that, ${elsewhere}`,
    cause: error,
  });
}

/** Why nothing can be written there, or null. Looked at by path, because what a failed call names is often another thing. */
export function homeTrouble(home: string): { message: string; fix: string } | null {
  const [there, isDirectory] = nearest(home);
  if (!isDirectory) {
    return {
      message: `${home} cannot be the home: ${there} is not a directory.`,
      fix: `Move ${there} away, ${elsewhere}`,
    };
  }
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
    return there === home ? diskTroubleOf(home) : null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EROFS"
      ? { message: `${home} cannot be written: its disk is read-only.`, fix: `Make it writable, ${elsewhere}` }
      : {
          message: `${home} cannot be written: this user may not write to ${there}.`,
          fix: `Change who owns it or its mode, ${elsewhere}`,
        };
  }
}

/** A disk that failed while it was in use looks as if it could be written. */
function diskTroubleOf(home: string): { message: string; fix: string } | null {
  const trouble = probeDisk(home);
  if (trouble === "read-only") {
    return { message: `${home} cannot be written: its disk is read-only.`, fix: `Make it writable, ${elsewhere}` };
  }
  if (trouble !== "failing") return null;
  return {
    message: `${home} cannot be written: its disk is failing (I/O error).`,
    fix: `Check the disk and the system's log (dmesg), ${elsewhere}`,
  };
}

/** The path itself, or what is there of the way to it. */
function nearest(path: string): [string, boolean] {
  for (let at = path; ; at = dirname(at)) {
    try {
      return [at, statSync(at).isDirectory()];
    } catch {
      if (at === dirname(at)) return [at, true];
    }
  }
}
