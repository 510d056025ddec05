/**
 * The system-call filter of contained agents: without it a program in a tmux pane can type into that pane's terminal
 * (TIOCSTI, TIOCLINUX), and so into whatever shell reads it next. `--new-session` would prevent that too, but takes
 * /dev/tty away from agents that need it. System calls of other architectures are refused, because they would slip past.
 */

/** AUDIT_ARCH of a machine and its number of ioctl(2). */
const machines: Readonly<Record<string, readonly [audit: number, ioctl: number]>> = {
  x64: [0xc000003e, 16],
  arm64: [0xc00000b7, 29],
};

const tiocsti = 0x5412;
const tioclinux = 0x541c;
/** Above this x86-64 has the numbers of its 32-bit variant, x32. */
const x32 = 0x40000000;

const load = 0x20;
const jumpEqual = 0x15;
const jumpAtLeast = 0x35;
const answer = 0x06;
const allow = 0x7fff0000;
const refuse = 0x00050001;
const noSuchCall = 0x00050026;

/** As `--seccomp` reads it: one `struct sock_filter` after the other. Null for a machine that we do not know. */
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
    // The lower half of its second argument: the kernel looks at no more.
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
