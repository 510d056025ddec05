/** Writes to the home, and explains the system's errors to the user. */
import { accessSync, constants, existsSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { hasNoRoom, probeDisk } from "../../../base/durable-file.ts";
import type { Paths } from "../../../base/paths.ts";
import { HoldfastError } from "../../../contract/errors.ts";

const elsewhere = "or set HOLDFAST_HOME to another directory.";

/**
 * On a full disk the reserve is given up: a daemon that cannot start could not record that a session must end [DAEMON-23].
 * The daemon then writes only such records until there is space again.
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

/** Explains system errors; returns any other error unchanged. */
function explained(home: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  if (hasNoRoom(error)) {
    return new HoldfastError("disk-full", `The disk with ${home} is full; nothing was started.`, {
      hint: "Free some space and try again.",
      cause: error,
    });
  }
  const problem = homeProblem(home);
  if (problem === null) return error instanceof HoldfastError ? error : refused(home, error);
  return new HoldfastError("preflight-failed", `${problem.message} Nothing was started.`, {
    hint: problem.fix,
    cause: error,
  });
}

function refused(home: string, error: Error): HoldfastError {
  return new HoldfastError("preflight-failed", `Cannot write to ${home}: ${error.message}. Nothing was started.`, {
    hint: `Fix that, ${elsewhere}`,
    cause: error,
  });
}

/** Why the home cannot be written to, or null. Checked by path, because failed calls often name another file. */
export function homeProblem(home: string): { message: string; fix: string } | null {
  const [there, isDirectory] = nearest(home);
  if (!isDirectory) {
    return {
      message: `Cannot use ${home} as HOLDFAST_HOME: ${there} is not a directory.`,
      fix: `Move ${there} away, ${elsewhere}`,
    };
  }
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
    return there === home ? diskProblem(home) : null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EROFS"
      ? { message: `Cannot write to ${home}: its disk is read-only.`, fix: `Make it writable, ${elsewhere}` }
      : {
          message: `Cannot write to ${home}: this user may not write to ${there}.`,
          fix: `Change its owner or mode, ${elsewhere}`,
        };
  }
}

/** A disk that failed while in use still looks writable. */
function diskProblem(home: string): { message: string; fix: string } | null {
  const state = probeDisk(home);
  if (state === "read-only") {
    return { message: `Cannot write to ${home}: its disk is read-only.`, fix: `Make it writable, ${elsewhere}` };
  }
  if (state !== "failing") return null;
  return {
    message: `Cannot write to ${home}: its disk is failing (I/O error).`,
    fix: `Check the disk and the system's log (dmesg), ${elsewhere}`,
  };
}

/** The path itself, or its nearest existing parent. */
function nearest(path: string): [string, boolean] {
  for (let at = path; ; at = dirname(at)) {
    try {
      return [at, statSync(at).isDirectory()];
    } catch {
      if (at === dirname(at)) return [at, true];
    }
  }
}
