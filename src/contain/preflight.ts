/** Whether bubblewrap works here, found out by running it as a launch would. */
import { execFile } from "node:child_process";
import { findProgram } from "../base/find-program.ts";
import { terminalFilter } from "./terminal-filter.ts";

/**
 * Not `--new-session`, which takes the terminal away, and not `--die-with-parent`, which kills the agent where it should be
 * asked to end.
 */
export const namespaceFlags = [
  "--unshare-user",
  "--disable-userns",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--cap-drop",
  "ALL",
];

const checkMs = 10_000;
/** What worked is not asked again for so long. */
const rememberMs = 60_000;
const install = "Install it, for example with `sudo apt-get install bubblewrap`, or use --contain off.";

export class BwrapCheck {
  readonly #env: NodeJS.ProcessEnv;
  #worked: { path: string; at: number } | null = null;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** The program, or why contained sessions cannot start, as a sentence with the fix. */
  async find(): Promise<{ path: string } | { problem: string }> {
    if (process.platform !== "linux") {
      return { problem: "Containment with mode worktree needs Linux. Use --contain off or --contain devcontainer." };
    }
    if (terminalFilter() === null) {
      return { problem: `Containment is not supported on ${process.arch} processors. Use --contain off.` };
    }
    const path = findProgram("bwrap", this.#env["PATH"]);
    if (path === null) {
      return { problem: `bwrap (bubblewrap) is not on the daemon's PATH, and contained sessions need it. ${install}` };
    }
    if (this.#worked?.path === path && performance.now() - this.#worked.at < rememberMs) return { path };
    const said = await attempt(path);
    if (said !== null) return { problem: explain(said) };
    this.#worked = { path, at: performance.now() };
    return { path };
  }
}

/** Null when it worked, else what it said. */
function attempt(path: string): Promise<string | null> {
  const args = [...namespaceFlags, "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--"];
  return new Promise((resolve) => {
    execFile(path, [...args, "/bin/true"], { timeout: checkMs, killSignal: "SIGKILL" }, (error, _out, stderr) => {
      resolve(error === null ? null : stderr.trim().split("\n").at(-1) || error.message);
    });
  });
}

function explain(said: string): string {
  if (/unknown option/i.test(said)) {
    return `The installed bubblewrap is too old (${said}). Install version 0.8 or newer, or use --contain off.`;
  }
  const why = /namespace|uid map|permission|not permitted|userns/i.test(said)
    ? "This system does not let ordinary programs create user namespaces. Allow them (kernel.unprivileged_userns_clone=1; " +
      "on Ubuntu an AppArmor profile for bwrap, or kernel.apparmor_restrict_unprivileged_userns=0)"
    : "Check it with `bwrap --unshare-user --ro-bind / / true`";
  return `bubblewrap cannot start (${said}). ${why}, or use --contain off.`;
}
