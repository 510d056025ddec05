/** Digests, and node:crypto. */
import type nodeCrypto from "node:crypto";

/** Loading node:crypto takes 8 ms or more: bench/cli.ts and bench/daemon.ts bound how long a start may take. */
export const crypto = (): typeof nodeCrypto => process.getBuiltinModule("node:crypto");

/** Distinguishes texts (FNV-1a, 64 bits, 12 digits of it). Not for secrets. Names files, so it must never change. */
export function digestOf(text: string): string {
  // Two 32-bit halves: BigInt takes a millisecond for the keeper's script.
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 0x1_0000_0000) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  const hex = (part: number): string => part.toString(16).padStart(8, "0");
  return (hex(high) + hex(low)).slice(0, 12);
}
