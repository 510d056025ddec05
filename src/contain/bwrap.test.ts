import { expect, test } from "vitest";
import { terminalFilter } from "./bwrap.ts";

const allow = 0x7fff0000;
const refuse = 0x00050001;
const noSuchCall = 0x00050026;

/** What the kernel would answer: the few instructions that the filter uses, on a `struct seccomp_data`. */
function ask(program: Buffer, { arch, call, second = 0 }: { arch: number; call: number; second?: number }): number {
  const data: Record<number, number> = { 0: call, 4: arch, 24: second };
  let loaded = 0;
  for (let at = 0; ; at += 1) {
    const [code, yes, no] = [
      program.readUInt16LE(at * 8),
      program.readUInt8(at * 8 + 2),
      program.readUInt8(at * 8 + 3),
    ];
    const k = program.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return k;
    if (code === 0x20) loaded = data[k]!;
    else at += (code === 0x15 ? loaded === k : loaded >= k) ? yes : no;
  }
}

test("[CONTAIN-11] the filter refuses what types into a terminal, and every call of another architecture", () => {
  for (const [name, arch, ioctl] of [
    ["x64", 0xc000003e, 16],
    ["arm64", 0xc00000b7, 29],
  ] as const) {
    const program = terminalFilter(name)!;
    expect(ask(program, { arch, call: 0 })).toBe(allow);
    expect(ask(program, { arch, call: ioctl, second: 0x5413 })).toBe(allow);
    expect(ask(program, { arch, call: ioctl, second: 0x5412 })).toBe(refuse);
    expect(ask(program, { arch, call: ioctl, second: 0x541c })).toBe(refuse);
    expect(ask(program, { arch: 0x40000003, call: 54, second: 0x5412 })).toBe(noSuchCall);
    expect(ask(program, { arch, call: 0x40000000 + ioctl, second: 0x5412 })).not.toBe(allow);
  }
  expect(terminalFilter("mips")).toBeNull();
});
