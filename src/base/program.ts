/** This program: its version, its umask, and the time since boot. */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";

/** Both are defined by the build. */
declare const __HOLDFAST_VERSION__: string | undefined;
declare const __HOLDFAST_BUILD__: string | undefined;

export const version: string = typeof __HOLDFAST_VERSION__ === "string" ? __HOLDFAST_VERSION__ : "0.0.0";
export const build: string = typeof __HOLDFAST_BUILD__ === "string" ? __HOLDFAST_BUILD__ : "source";

/** HOLDFAST_TEST_UPTIME names a file with milliseconds to add, to let tests skip days. */
const offset = process.env["HOLDFAST_TEST_UPTIME"];

/** Time since boot: monotonic, and unlike Node's timers it includes time asleep. */
export function uptimeMs(): number {
  return uptime() * 1000 + (offset === undefined ? 0 : Number(readFileSync(offset, "utf8")));
}

/**
 * The umask of the shell that started the daemon. The daemon's own files are private; files that git, agents and your
 * commands create get the modes that your shell would give them, because a container or a colleague may have to read them.
 */
let personal: number | null = null;

/** Called once at the daemon's start, with the inherited umask. */
export function rememberUmask(umask: number): void {
  personal = umask;
}

/** For starting a child, which inherits the umask, or writing files: synchronous, so nothing else runs under it. */
export function withPersonalUmask<T>(begin: () => T): T {
  if (personal === null) return begin();
  const own = process.umask(personal);
  try {
    return begin();
  } finally {
    process.umask(own);
  }
}

/** In the form of a shell's `umask`; null if this process did not change its own. */
export function personalUmask(): string | null {
  return personal === null ? null : personal.toString(8).padStart(4, "0");
}
