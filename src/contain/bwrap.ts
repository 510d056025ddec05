/** bubblewrap: its flags, its system-call filter, and a check that it works here. */
import { execFile } from "node:child_process";
import { findProgram } from "../base/find-program.ts";

/**
 * The system-call filter of contained agents. Without it a program in a tmux pane can type into that pane's terminal
 * (TIOCSTI, TIOCLINUX), and so into the next shell that reads it. `--new-session` would prevent that too, but removes
 * /dev/tty, which some agents need. System calls of other architectures are refused, because they would bypass the
 * filter.
 */

/** A machine's AUDIT_ARCH, and its number of ioctl(2). */
const machines: Readonly<Record<string, readonly [audit: number, ioctl: number]>> = {
  x64: [0xc000003e, 16],
  arm64: [0xc00000b7, 29],
};

const tiocsti = 0x5412;
const tioclinux = 0x541c;
/** Numbers above this are x86-64's 32-bit variant, x32. */
const x32 = 0x40000000;

const load = 0x20;
const jumpEqual = 0x15;
const jumpAtLeast = 0x35;
const answer = 0x06;
const allow = 0x7fff0000;
const refuse = 0x00050001;
const noSuchCall = 0x00050026;

/** In the format of `--seccomp`: a sequence of `struct sock_filter`. Null for an unknown machine. */
export function terminalFilter(arch: string = process.arch): Buffer | null {
  const machine = machines[arch];
  if (machine === undefined) return null;
  const [audit, ioctl] = machine;
  const program: [code: number, yes: number, no: number, k: number][] = [
    [load, 0, 0, 4],
    [jumpEqual, 0, 7, audit],
    [load, 0, 0, 0],
    [jumpAtLeast, 5, 0, x32],
    [jumpEqual, 0, 3, ioctl],
    // The lower half of its second argument: the kernel ignores the rest.
    [load, 0, 0, 24],
    [jumpEqual, 3, 0, tiocsti],
    [jumpEqual, 2, 0, tioclinux],
    [answer, 0, 0, allow],
    [answer, 0, 0, noSuchCall],
    [answer, 0, 0, refuse],
  ];
  const out = Buffer.alloc(program.length * 8);
  for (const [index, [code, yes, no, k]] of program.entries()) {
    out.writeUInt16LE(code, index * 8);
    out.writeUInt8(yes, index * 8 + 2);
    out.writeUInt8(no, index * 8 + 3);
    out.writeUInt32LE(k, index * 8 + 4);
  }
  return out;
}

/**
 * Not `--new-session`, which removes the terminal, and not `--die-with-parent`, which kills the agent without a
 * graceful stop.
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
/** A success is valid for this long. */
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
      return { problem: `bwrap (bubblewrap), which contained sessions need, is not on the daemon's PATH. ${install}` };
    }
    if (this.#worked?.path === path && performance.now() - this.#worked.at < rememberMs) return { path };
    const message = await attempt(path);
    if (message !== null) return { problem: explain(message) };
    this.#worked = { path, at: performance.now() };
    return { path };
  }
}

/** Null on success, otherwise its message. */
function attempt(path: string): Promise<string | null> {
  const args = [...namespaceFlags, "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--"];
  return new Promise((resolve) => {
    execFile(path, [...args, "/bin/true"], { timeout: checkMs, killSignal: "SIGKILL" }, (error, _out, stderr) => {
      resolve(error === null ? null : stderr.trim().split("\n").at(-1) || error.message);
    });
  });
}

function explain(message: string): string {
  if (/unknown option/i.test(message)) {
    return `The installed bubblewrap is too old (${message}). Install version 0.8 or newer, or use --contain off.`;
  }
  const why = /namespace|uid map|permission|not permitted|userns/i.test(message)
    ? "This system does not let ordinary programs create user namespaces. Allow them (kernel.unprivileged_userns_clone=1; " +
      "on Ubuntu an AppArmor profile for bwrap, or kernel.apparmor_restrict_unprivileged_userns=0)"
    : "Check it with `bwrap --unshare-user --ro-bind / / true`";
  return `bubblewrap cannot start (${message}). ${why}, or use --contain off.`;
}
