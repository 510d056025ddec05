/**
 * What the daemon makes for itself is private. What git, agents and the person's commands make in a worktree or a
 * repository is as the person's own shell would have made it: others may have to read it, a container or a colleague.
 */
let personal: number | null = null;

/** Once, at the daemon's start: what it had from whoever started it before it made its own private. */
export function rememberUmask(umask: number): void {
  personal = umask;
}

/** For what begins a child, which inherits the umask of that instant, or writes files itself: synchronous, nothing else runs. */
export function withPersonalUmask<T>(begin: () => T): T {
  if (personal === null) return begin();
  const own = process.umask(personal);
  try {
    return begin();
  } finally {
    process.umask(own);
  }
}

/** For a shell's `umask`; null where nothing was made private, so that a child has the right one already. */
export function personalUmask(): string | null {
  return personal === null ? null : personal.toString(8).padStart(4, "0");
}
